//! What hosts publish about their servers.
