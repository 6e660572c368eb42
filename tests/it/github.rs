//! `publish` against the fake GitHub of hub.rs: every answer that GitHub or somebody in between may give, and what must
//! stand on the commit and the pull request after it.
