//! How the binary is linked.
//!
//! | what | where | why |
//! |---|---|---|
//! | `curl_global_init` replaced | Linux | see `src/main.rs` |
//! | no tables for unwinding | static binary | a twentieth of its size |
//! | nothing before `main` | static binary | see `scripts/link/static.ld` |
//! | functions and data of a call side by side | static binary | fewer pages to load |
//! | nothing made read-only after the start | static binary | nobody would do it there |
//! | functions of the same code, and ends of texts, once | static binary | 40 KB |
//! | a map of what is in it | static binary | see `scripts/size-table` |
//!
//! The order, and having things once, need the linker that comes with Rust. Without it the binary does the
//! same, is larger, and its functions stand where they happen to.

use std::env::var;
use std::path::Path;
use std::process::Command;

/// Which functions a call goes through, and which variables without a value from the start it uses;
/// made by `scripts/order-functions`.
const ORDER: &str = "scripts/link/order.txt";

/// Which constants and other variables it uses, made by the same.
const DATA: &str = "scripts/link/order.ld";

/// What is left out of the static binary.
const SCRIPT: &str = "scripts/link/static.ld";

fn main() {
    for file in ["scripts/build.rs", ORDER, DATA, SCRIPT] {
        println!("cargo::rerun-if-changed={file}");
    }
    let target = |what: &str| var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" {
        return;
    }
    link("--wrap=curl_global_init");
    if target("ENV") != "musl" {
        return;
    }
    let here = var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    link(&format!("-T{here}/{SCRIPT}"));
    link("--no-eh-frame-hdr");
    // musl makes nothing read-only in a program that it does not relocate: what is set apart for
    // it would only take pages.
    link("-znorelro");
    let out = var("OUT_DIR").expect("cargo says where to write");
    // PROFILE/build/PACKAGE/out
    let profile = Path::new(&out).ancestors().nth(3).expect("that is deep in the target directory");
    link(&format!("-Map={}/mcpmini.map", profile.display()));
    let directory = linker_of_rust();
    if let Some(directory) = &directory {
        println!("cargo::rustc-link-arg-bins=-B{directory}");
        println!("cargo::rustc-link-arg-bins=-fuse-ld=lld");
    }
    if directory.is_some() || is_linker_of_rust() {
        link(&format!("--symbol-ordering-file={here}/{ORDER}"));
        // Names change with the compiler. Those that are not there any more are of no use, and of
        // no harm.
        link("--no-warn-symbol-ordering");
        link(&format!("-T{here}/{DATA}"));
        // Functions with one address do the same: who compares addresses of functions learns no more
        // than that. Constants keep theirs.
        link("--icf=all");
        link("-O2");
    }
}

/// Passes an option to the linker of the binary, through the C compiler unless that is not asked.
fn link(option: &str) {
    let through = if is_linker_of_rust() { "" } else { "-Wl," };
    println!("cargo::rustc-link-arg-bins={through}{option}");
}

/// Whether the linker of Rust was asked for by its name, as `scripts/build-static` does to build for
/// another processor.
fn is_linker_of_rust() -> bool {
    var("RUSTC_LINKER").is_ok_and(|linker| linker.ends_with("rust-lld"))
}

/// The directory where the C compiler finds the linker of Rust, unless another one was asked for.
fn linker_of_rust() -> Option<String> {
    if var("RUSTC_LINKER").is_ok() {
        return None;
    }
    let printed = Command::new(var("RUSTC").ok()?).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(printed.stdout).ok()?;
    let directory = format!("{}/lib/rustlib/{}/bin/gcc-ld", sysroot.trim(), var("HOST").ok()?);
    Path::new(&directory).join("ld.lld").is_file().then_some(directory)
}
