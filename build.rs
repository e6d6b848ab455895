//! How the binary is linked.
//!
//! | what | where | why |
//! |---|---|---|
//! | `curl_global_init` replaced | Linux | see `src/main.rs` |
//! | no tables for unwinding | static binary | a twentieth of its size |
//! | functions of a call side by side | static binary | fewer pages to load |
//!
//! The last one needs the linker that comes with Rust. Without it the binary is the same, and its
//! functions stand where they happen to.

use std::env::var;
use std::path::Path;
use std::process::Command;

/// Which functions a call goes through, made by `scripts/order-functions`.
const ORDER: &str = "link/order.txt";

const NO_UNWINDING: &str = "link/no-unwinding.ld";

fn main() {
    for file in ["build.rs", ORDER, NO_UNWINDING] {
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
    link(&format!("-T,{here}/{NO_UNWINDING}"));
    link("--no-eh-frame-hdr");
    if let Some(directory) = linker_of_rust() {
        println!("cargo::rustc-link-arg-bins=-B{directory}");
        println!("cargo::rustc-link-arg-bins=-fuse-ld=lld");
        link(&format!("--symbol-ordering-file={here}/{ORDER}"));
        // Names change with the compiler. Those that are not there any more are of no use, and of
        // no harm.
        link("--no-warn-symbol-ordering");
    }
}

/// Passes an option to the linker of the binary.
fn link(option: &str) {
    println!("cargo::rustc-link-arg-bins=-Wl,{option}");
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
