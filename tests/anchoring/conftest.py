"""Anchors are those of fits without innovations."""

import pytest

import dgd


@pytest.fixture(scope="session")
def fit(anchored: dgd.Fit) -> dgd.Fit:
    return anchored
