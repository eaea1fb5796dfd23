"""Function words of languages: articles, pronouns, prepositions, conjunctions, auxiliary verbs, particles.

They are the closed classes of each language, written down for Ritz, spelled in lower case; English is in ``stems.py``.
They carry grammar and no subject: as stop words they are left out, and by their share a language is recognised
(``language.py``). Names are those of the Snowball stemmers.
"""

from __future__ import annotations

from functools import cache

from ritz.text.stems import ENGLISH

__all__ = ["function_words", "languages"]

_WORDS: dict[str, str] = {
    "catalan": """
el la els les un una uns unes de del dels al als amb en per sense sota sobre entre des fins cap contra durant segons i
o ni però que qui què com quan on perquè si doncs mentre encara també ja no sí més menys molt molta molts moltes poc
tot tota tots totes jo tu ell ella nosaltres vosaltres ells elles em et es ens us li hi ho ne meu meva teu teva seu
seva seus seves nostre nostra vostre aquest aquesta aquests aquestes aquell aquella aquells això allò és són era eren
ser estar està estan he has ha hem heu han havia haver fer fa pel pels altre altra altres cada mateix després abans
aquí allà així tan tant només
""",
    "danish": """
og i jeg det at en et den til er som på de med han af for ikke der var mig sig men har om vi min havde ham hun nu over
da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være dog noget ville jo
deres efter ned skulle denne end dette mit også under have dig anden hende mine alt meget sit sine vor mod disse hvis
din nogle hos blive mange ad bliver hendes været jer sådan hvordan hvorfor hvilken mellem kan må uden
""",
    "dutch": """
de het een en van in ik te dat die is was op aan met als voor had er maar om hem dan zou of wat mijn men dit zo door
over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal me zij nu ge geen
omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun dus alles onder ja eens hier wie werd
altijd doch wordt wezen kunnen ons zelf tegen na reeds wil kon niets uw iemand geweest andere niet wij hij jullie jouw
onze zijn hadden moeten zullen zouden tussen tijdens sinds volgens elke welke waar wanneer waarom
""",
    "finnish": """
olla olen olet on olemme olette ovat ole oli olivat ollut olleet ei en et emme ette eivät minä sinä hän me te he minun
minut minua sinun hänen hänet häntä meidän meitä teidän heidän heitä tämä tämän tätä tässä tästä tähän tuo tuon se sen
sitä siinä siitä siihen nämä näiden nuo ne niiden niitä niissä joka jonka jota jossa josta johon jotka joiden joita
kuka mikä minkä mitä missä mistä mihin että ja jos koska kuin mutta niin sekä sillä tai vaan vai vaikka kanssa mukaan
noin poikki yli kun nyt itse myös jo vain kaikki ilman ennen jälkeen kuten eli siis sitten
""",
    "french": """
le la les un une des du de au aux à en dans par pour sur sous avec sans entre vers chez contre depuis pendant et ou où
ni mais donc car que qui quoi dont quand comme si lorsque puisque je tu il elle on nous vous ils elles me te se lui
leur leurs moi toi soi eux mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces cela ceci ça est sont
était étaient être été suis es sommes êtes sera seront serait fut ai as avons avez ont avait avaient avoir eu ne pas
plus moins très aussi y même tout tous toute toutes autre autres quel quelle quels quelles ainsi alors après avant
encore peu aucun
""",
    "german": """
der die das den dem des ein eine einen einem einer eines und oder aber denn sondern doch nicht kein keine keinen
keinem keiner ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen mein meine meinen meiner dein
deine sein seine seinen seinem seiner ihre ihren ihrem ihrer unser unsere euer in im an am auf aus bei beim mit nach
von vom vor zu zum zur über unter um durch für gegen ohne zwischen bis seit während wegen ist sind war waren bin bist
gewesen wird werden wurde wurden worden hat haben hatte hatten habe kann können könnte konnte muss müssen soll sollen
sollte will wollen würde würden darf als wie wenn weil dass daß ob da damit so auch noch nur schon sehr mehr dann nun
hier dort diese dieser dieses diesem diesen jede jeder jedes alle allem allen aller alles andere anderen man was wer
wo wann warum welche welcher welches etwas nichts also
""",
    "greek": """
ο η το οι τα του της των τον την τους τις στο στη στην στον στα στους στις ένα ένας μια μία και ή ούτε αλλά όμως γιατί
αν όταν ενώ που πως πώς ότι όπως όσο για από με σε χωρίς μετά πριν προς κατά μέχρι μεταξύ να θα δεν μην είναι ήταν
είμαι είσαι είμαστε ήμουν έχει έχουν έχω είχε είχαν εγώ εσύ αυτός αυτή αυτό αυτοί αυτές αυτά αυτού εμείς εσείς μου σου
μας σας εκείνος εκείνη εκείνο κάθε κάτι κάποιος τι ποιος ποια ποιο πολύ πιο δύο ως μόνο ακόμη ακόμα πολλά όλα όλοι
""",
    "hungarian": """
az egy és hogy nem is de ha ez azt ezt meg csak már van volt vagy mint én te ő mi ti ők engem téged minket nekem neki
nekünk nekik magát maga saját ami aki amely amelyek akik akit ahol amikor mert pedig majd még úgy így sem se mind
minden mindig után előtt alatt között ellen szerint nélkül által miatt felé óta ki mit ezek azok ebben abban erre arra
ennek annak ezzel azzal itt ott most akkor lesz lett volna lehet kell vannak voltak legyen sok nagyon igen több olyan
ilyen hanem illetve valamint például
""",
    "indonesian": """
yang dan di ke dari untuk pada dengan dalam adalah ini itu tidak akan juga oleh sebagai atau karena ada telah sudah
dapat bisa saya kami kita anda dia ia mereka kamu aku nya para sebuah seorang suatu lebih hanya saat ketika jika maka
tetapi namun serta bahwa secara antara setelah sebelum tanpa seperti bagi hingga sampai masih belum bukan harus lagi
pun lah tersebut setiap semua banyak beberapa apa siapa bagaimana mana agar sehingga sedang
""",
    "italian": """
il lo la gli le un uno una di del dello della dei degli delle da dal dalla dai dalle in nel nello nella nei negli
nelle su sul sulla sui sulle con per tra fra al allo alla ai agli alle senza sotto sopra verso contro durante e ed o
ma se che chi cui quando come dove perché mentre anche non più meno molto io tu lui lei noi voi loro mi ti si ci vi ne
mio mia miei tuo tua suo sua suoi sue nostro nostra vostro questo questa questi queste quello quella quelli quelle è
sono era erano essere stato stata stati sia ho ha hanno aveva avere abbiamo fu può possono ogni altro altra altri
altre tutto tutti tutta tutte stesso così già ancora solo quale quali poi dopo prima né
""",
    "norwegian": """
og i jeg det at en et den til er som på de med han av for ikke ikkje der så var meg seg men ett har om vi min mitt ha
hadde hun nå over da ved fra du ut sin dem oss opp man kan hans hvor eller hva skal selv her alle vil bli ble blei
blitt kunne inn når være kom noen noe ville dere deres kun ja etter ned skulle denne deg si sine sitt mot å meget
hvorfor dette disse uten hvordan ingen din ditt blir samme hvilken hvilke sånn inni mellom vår hver hvem vors hvis
både bare enn fordi før mange også slik vært båe begge siden
""",
    "portuguese": """
o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela pelos pelas para com sem sob sobre entre até
desde contra ao à aos às e ou mas nem que quem qual quais quando como onde porque se pois também já não sim mais menos
muito muita muitos muitas eu tu ele ela nós vós eles elles elas me te lhe lhes meu minha meus minhas teu tua seu sua
seus suas nosso nossa dele dela deles este esta estes estas esse essa esses essas aquele aquela isto isso aquilo é são
era eram foi foram ser sendo sido está estão estar estava tem têm tinha ter há havia você vocês cada outro outra
outros outras mesmo ainda depois antes só todo toda todos todas num numa
""",
    "romanian": """
și în la de pe cu din pentru care că nu este sunt era erau fi fost a au am ai are avea o un unei unui unor al ale cel
cea cei cele acest această acestea acești acel acea acei lui ei lor eu tu el ea noi voi ele mă te se ne vă îl îi le
își mai mult foarte dar sau nici dacă când cum unde ce cine să ca prin după între fără sub până spre despre asupra
doar numai tot toate toți fiecare alte altul alta aici acolo așa astfel deci iar însă fie meu mea său sa noastră
nostru cât atât prea
""",
    "russian": """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня еще
ещё нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя
ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж
тогда кто этот того потому этого какой ним здесь этом один почти мой тем чтобы нее были куда зачем всех можно при об
хоть после над больше тот через эти нас про всего них какая много разве эту моя свою этой перед иногда лучше чуть том
такой им более всегда конечно всю между это которые который которая которых является также
""",
    "spanish": """
el la los las un una unos unas lo de del al a en por para con sin sobre bajo entre hasta desde hacia contra durante
según y e o u ni pero sino que quien quienes cual cuales cuando como donde porque si pues también ya no sí más menos
muy mucho mucha muchos poco yo tú él ella nosotros vosotros ellos ellas me te se nos os le les mi mis tu tus su sus
nuestro nuestra este esta estos estas ese esa esos esas aquel aquella esto eso es son era eran fue fueron ser sido
está están estar estaba he ha han había haber hay tiene tienen tener cada otro otra otros otras mismo aún después
antes sólo solo todo toda todos todas qué cómo así tan
""",
    "swedish": """
och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig du henne då sin nu
har inte hans honom skulle hennes där min man ej vid kunde något från ut när efter upp vi dem vara vad över än dig kan
sina här ha mot alla under någon eller allt mycket sedan ju denna själv detta åt utan varit hur ingen mitt ni bli blev
oss din dessa några deras blir mina samma vilken er sådan vår blivit dess inom mellan sådant varför varje vilka ditt
vem vilket sitta sådana vart dina vars vårt våra ert era vilkas också ska
""",
    "turkish": """
ve bir bu da de için ile ne o ki ama çok daha en gibi kadar sonra önce ancak ise veya ya hem her şey olarak olan
olduğu olduğunu olur oldu olması değil var yok mı mi mu mü ben sen biz siz onlar bana sana ona bize size onu beni seni
bizi sizi onun benim senin bizim sizin onların şu bunu bunun buna bunlar nasıl neden niçin nerede kim hangi eğer çünkü
diye göre karşı arasında üzerinde tarafından üzere böyle şöyle tüm bütün bazı hiç yine artık sadece bile ayrıca rağmen
zaman
""",
}


@cache
def function_words(language: str) -> frozenset[str]:
    """Function words of a language; none where none are written down."""
    return ENGLISH if language == "english" else frozenset(_WORDS.get(language, "").split())


def languages() -> tuple[str, ...]:
    """Languages with function words, sorted."""
    return tuple(sorted(["english", *_WORDS]))
