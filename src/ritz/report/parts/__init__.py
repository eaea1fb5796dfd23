"""The parts of a report, in the order of the page: from the answer to how it can be checked.

A part is one file with one ``PART``; it appears where its condition holds. To add one, write the file and name it here.
"""

from __future__ import annotations

from ritz.report.part import Part
from ritz.report.parts import (
    answer,
    biplot,
    certificate,
    choices,
    circle,
    cite,
    data,
    distortion,
    glossary,
    groups,
    kernel_maps,
    loadings,
    neighbours,
    outliers,
    pictures,
    points,
    preimages,
    reconstruction,
    reproduce,
    scores,
    scree,
    spectrum,
    stability,
    topics,
    trust,
    words,
)

__all__ = ["PARTS"]

PARTS: tuple[Part, ...] = (
    answer.PART,
    data.PART,
    topics.PART,
    scores.PART,
    trust.PART,
    distortion.PART,
    choices.PART,
    neighbours.PART,
    words.PART,
    points.PART,
    loadings.PART,
    pictures.PART,
    biplot.PART,
    circle.PART,
    kernel_maps.PART,
    preimages.PART,
    groups.PART,
    scree.PART,
    spectrum.PART,
    outliers.PART,
    stability.PART,
    reconstruction.PART,
    certificate.PART,
    reproduce.PART,
    glossary.PART,
    cite.PART,
)
