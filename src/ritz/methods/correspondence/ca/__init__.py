"""Correspondence analysis of counts."""
