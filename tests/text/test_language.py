"""The language of texts is recognised by function words, and nothing is assumed where they do not speak clearly."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from ritz.text import language as module
from ritz.text.function_words import function_words, languages
from ritz.text.language import Language, recognise, rule_of
from ritz.text.stems import LANGUAGES

#: Article 1 of the Universal Declaration of Human Rights, and a sentence more.
DECLARATION = {
    "catalan": "Tots els éssers humans neixen lliures i iguals en dignitat i en drets. Són dotats de raó i de "
    "consciència, i han de comportar-se fraternalment els uns amb els altres. Tota persona té dret a la "
    "vida i a la llibertat, però no pot fer el que vulgui amb la dels altres.",
    "danish": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og "
    "samvittighed, og de bør handle mod hverandre i en broderskabets ånd. Enhver har ret til liv, frihed "
    "og personlig sikkerhed, og det gælder også for dem, der ikke har nogen magt.",
    "dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand "
    "en geweten, en behoren zich jegens elkander in een geest van broederschap te gedragen. Een ieder "
    "heeft recht op leven, vrijheid en onschendbaarheid van zijn persoon, en dat geldt ook voor wie er "
    "niet om vraagt.",
    "english": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood. Everyone has the right to "
    "life, liberty and the security of person.",
    "finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu "
    "järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä. Jokaisella on oikeus "
    "elämään, vapauteen ja henkilökohtaiseen turvallisuuteen, vaikka se ei ole aina niin.",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et "
    "de conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Tout individu "
    "a droit à la vie, à la liberté et à la sûreté de sa personne.",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geiste der Brüderlichkeit begegnen. Jeder hat das Recht auf Leben, "
    "Freiheit und Sicherheit der Person.",
    "hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és "
    "lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek. Minden "
    "személynek joga van az élethez, a szabadsághoz, és ez nem csak azt jelenti, hogy él.",
    "indonesian": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak yang sama. Mereka dikaruniai akal dan "
    "hati nurani dan hendaknya bergaul satu sama lain dalam semangat persaudaraan. Setiap orang berhak "
    "atas kehidupan, kebebasan dan keselamatan sebagai individu, dan hal itu tidak dapat diambil dari "
    "dia.",
    "italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e "
    "di coscienza e devono agire gli uni verso gli altri in spirito di fratellanza. Ogni individuo ha "
    "diritto alla vita, alla libertà ed alla sicurezza della propria persona.",
    "norwegian": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt med "
    "fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd. Enhver har rett til liv, "
    "frihet og personlig sikkerhet, og det gjelder også for dem som ikke har noen makt, og for meg.",
    "portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de "
    "consciência, devem agir uns para com os outros em espírito de fraternidade. Todo o indivíduo tem "
    "direito à vida, à liberdade e à segurança pessoal, mas não à custa dos outros.",
    "romanian": "Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt înzestrate cu "
    "rațiune și conștiință și trebuie să se comporte unele față de altele în spiritul fraternității. "
    "Orice ființă umană are dreptul la viață, la libertate și la securitatea persoanei sale.",
    "russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и "
    "совестью и должны поступать в отношении друг друга в духе братства. Каждый человек имеет право на "
    "жизнь, на свободу и на личную неприкосновенность, но не все это знают.",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón "
    "y conciencia, deben comportarse fraternalmente los unos con los otros. Todo individuo tiene derecho "
    "a la vida, a la libertad y a la seguridad de su persona.",
    "swedish": "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och "
    "samvete och bör handla gentemot varandra i en anda av gemenskap. Var och en har rätt till liv, "
    "frihet och personlig säkerhet, och det gäller också för dem som inte har någon makt.",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve "
    "birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. Yaşamak, hürriyet ve kişi emniyeti "
    "her ferdin hakkıdır, ama bu hak her zaman için var değil ve çok kişi bunu bilir.",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι "
    "προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα "
    "αδελφοσύνης. Κάθε άτομο έχει δικαίωμα στη ζωή, την ελευθερία και την προσωπική του ασφάλεια.",
}  # fmt: skip


def plain_code(module) -> str:
    """The code of a module without comments and documentation, which are prose."""
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0] = ast.Pass()
    return ast.unparse(tree)


@pytest.mark.parametrize("name", sorted(DECLARATION))
def test_a_paragraph_tells_its_language(name):
    found = recognise([DECLARATION[name]])
    assert found.name == name, found
    assert found.share > 0.35
    rule = rule_of(found)
    assert rule.stem == name


def test_every_language_with_function_words_has_a_stemmer_and_a_paragraph():
    assert set(languages()) == set(DECLARATION)
    assert set(languages()) <= set(LANGUAGES)
    assert all(len(function_words(name)) > 60 for name in languages())
    assert function_words("klingon") == frozenset()


def test_titles_tell_their_language_too():
    titles = ["A survey of user opinion of computer systems", "The intersection graph of paths in trees"] * 5
    assert recognise(titles).name == "english"


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["", "  "],
        ["red wine", "thin wings"],
        [" ".join(map(str, range(500)))],
        [plain_code(module)],
        [plain_code(textwrap), plain_code(module)],
        ["東京タワーは東京都港区にある総合電波塔である。" * 20],
        ["😀 😃 😄 " * 40],
        ["error 404 at /usr/lib/x.so: no such file 0x7f 12:30:11 pid=77 in main.c of build 9" for _ in range(20)],
        ["alpha beta gamma delta epsilon zeta eta theta iota kappa " * 10],
        [DECLARATION["english"], DECLARATION["german"]],
        [DECLARATION["french"], DECLARATION["spanish"], DECLARATION["italian"]],
    ],
    ids=[
        "nothing",
        "spaces",
        "short",
        "numbers",
        "code",
        "more-code",
        "japanese",
        "emoji",
        "log",
        "names",
        "two",
        "three",
    ],
)
def test_what_has_no_language_is_taken_as_it_is(texts):
    found = recognise(texts)
    assert found.name is None, found
    assert rule_of(found).stem is None
    assert rule_of(found).stop_words is None


def test_recognition_is_told_and_does_not_depend_on_how_texts_are_cut():
    text = DECLARATION["english"]
    whole, parts = recognise([text]), recognise(text.split(". "))
    assert whole == parts
    assert str(whole).startswith("English: ")
    assert "no language recognised" in str(Language(None, 0.1, 12))
    assert recognise([text] * 5000).tokens < 200_000  # the first of them are looked at
