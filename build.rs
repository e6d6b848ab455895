//! Keeps libcurl from being set up before `main` in processes that never use it.
//!
//! The crate `curl` registers a function that runs before `main` and calls `curl_global_init`. That
//! touches a dozen pages of memory, in a program that may only be asked for its version. The
//! linker lets this call go to a function of ours that does nothing, see `src/main.rs`; libcurl sets
//! itself up when its first handle is made.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--wrap=curl_global_init");
    }
}
