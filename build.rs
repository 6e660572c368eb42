//! Compiles the clock shim, `src/measure/shim/shim.rs`, with the compiler that builds the crate.
//!
//! Linux on a 64-bit machine only. Where it can't be built the crate works without it (the cfg
//! `clock_shim` stays off) and benchmarks are launched in turn.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/measure/shim");
    println!("cargo::rustc-check-cfg=cfg(clock_shim)");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let known = ["x86_64", "aarch64", "riscv64", "loongarch64"];
    if var("CARGO_CFG_TARGET_OS") != "linux"
        || !known.contains(&var("CARGO_CFG_TARGET_ARCH").as_str())
        || var("CARGO_CFG_TARGET_POINTER_WIDTH") != "64"
    {
        return;
    }
    let library = Path::new(&var("OUT_DIR")).join("clock_shim.so");
    let mut rustc = Command::new(var("RUSTC"));
    rustc
        .args(["src/measure/shim/shim.rs", "--crate-name=clock_shim", "--crate-type=cdylib"])
        .args(["--edition=2024", "--target", &var("TARGET"), "-o"])
        .arg(&library)
        .args(["-Copt-level=2", "-Cpanic=abort", "-Cstrip=symbols", "-Cdebuginfo=0"])
        // Symbols are found in the executable's own C library, so any of them will do.
        .args(["-Ctarget-feature=-crt-static", "-Clink-arg=-nostdlib"]);
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    match rustc.output() {
        Ok(output) if output.status.success() => println!("cargo::rustc-cfg=clock_shim"),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            let why =
                why.lines().find(|line| line.starts_with("error")).unwrap_or("no reason given");
            println!("cargo::warning=no clock shim, benchmarks will be launched in turn: {why}");
        }
        Err(error) => {
            println!("cargo::warning=no clock shim, benchmarks will be launched in turn: {error}");
        }
    }
}
