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
    clusters,
    contributions,
    data,
    described,
    distortion,
    groups,
    kernel_maps,
    loadings,
    neighbours,
    outliers,
    pictures,
    points,
    preimages,
    reconstruction,
    relations,
    reproduce,
    rotation,
    scores,
    scree,
    second,
    space,
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
    second.PART,
    topics.PART,
    scores.PART,
    space.PART,
    trust.PART,
    distortion.PART,
    choices.PART,
    neighbours.PART,
    words.PART,
    points.PART,
    loadings.PART,
    rotation.PART,
    pictures.PART,
    biplot.PART,
    circle.PART,
    relations.PART,
    contributions.PART,
    described.PART,
    kernel_maps.PART,
    preimages.PART,
    groups.PART,
    clusters.PART,
    scree.PART,
    spectrum.PART,
    outliers.PART,
    stability.PART,
    reconstruction.PART,
    certificate.PART,
    reproduce.PART,
    cite.PART,
)
