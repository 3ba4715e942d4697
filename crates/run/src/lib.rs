//! (see docs/formats.md)
