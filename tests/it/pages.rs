//! Laws of every page.
