//! Statistics on plain numbers: this room knows no domain word.
