//! Runs programs in turn and prints what each took beside the first.
//!
//! ```text
//! compare ROUNDS NAME PROGRAM [WORD...] [-- NAME PROGRAM [WORD...]]...
//! ```
//!
//! Each round runs every program once, so that a machine that gets slower gets slower for all. The
//! figures are medians over the rounds; a ratio is the median of the ratios within a round. All but
//! the wall time are what the kernel counted for the process and those it waited for; the peak is
//! the largest one's. A program that fails or whose exit code differs from 0 ends the comparison.

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::process::ExitCode;
use std::time::Instant;

/// What one run took.
#[derive(Clone, Copy)]
struct Run {
    /// In milliseconds.
    wall: f64,
    /// In milliseconds, user and system.
    cpu: f64,
    /// In megabytes.
    peak: f64,
    page_faults: f64,
    switches: f64,
}

struct Program {
    name: String,
    words: Vec<CString>,
    runs: Vec<Run>,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let rounds: usize = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let words: Vec<String> = words.collect();
    let parts = words.split(|word| word == "--").filter(|part| part.len() > 1);
    let mut programs: Vec<Program> = parts.map(Program::new).collect();
    if rounds == 0 || programs.is_empty() {
        eprintln!("usage: compare ROUNDS NAME PROGRAM [WORD...] [-- NAME PROGRAM [WORD...]]...");
        return ExitCode::from(2);
    }
    // The first round warms up what can be warm.
    for round in 0..=rounds {
        for program in &mut programs {
            match run(&program.words) {
                Ok(run) if round > 0 => program.runs.push(run),
                Ok(_) => (),
                Err(problem) => {
                    eprintln!("compare: {}: {problem}", program.name);
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    print(&programs);
    ExitCode::SUCCESS
}

fn print(programs: &[Program]) {
    let width = programs.iter().map(|program| program.name.chars().count()).max().unwrap_or(0);
    println!(
        "{:width$}  {:>8}  {:>6}  {:>8}  {:>8}  {:>6}  {:>8}",
        "", "wall ms", "ratio", "CPU ms", "peak MB", "faults", "switches"
    );
    for program in programs {
        let median_of = |part: fn(&Run) -> f64| median(program.runs.iter().map(part).collect());
        let pairs = program.runs.iter().zip(&programs[0].runs);
        println!(
            "{:width$}  {:8.2}  {:6.2}  {:8.2}  {:8.2}  {:6.0}  {:8.0}",
            program.name,
            median_of(|run| run.wall),
            median(pairs.map(|(run, first)| run.wall / first.wall).collect()),
            median_of(|run| run.cpu),
            median_of(|run| run.peak),
            median_of(|run| run.page_faults),
            median_of(|run| run.switches),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

impl Program {
    fn new(part: &[String]) -> Program {
        let words = part[1..].iter().map(|word| CString::new(word.as_str()));
        let words = words.collect::<Result<_, _>>().expect("words hold no zero byte");
        Program { name: part[0].clone(), words, runs: Vec::new() }
    }
}

/// The part of the kernel's account that is looked at, and room for the rest.
#[repr(C)]
#[derive(Default)]
struct Usage {
    user: [c_long; 2],
    system: [c_long; 2],
    peak: c_long,
    unused: [c_long; 3],
    page_faults: c_long,
    loads: c_long,
    more_unused: [c_long; 4],
    signals: c_long,
    switches: [c_long; 2],
    reserved: [c_long; 16],
}

/// Runs a program with empty input; what it writes is thrown away.
fn run(words: &[CString]) -> Result<Run, String> {
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let mut actions = [0_u64; 32];
    let actions: *mut c_void = actions.as_mut_ptr().cast();
    let (mut process, mut status, mut usage) = (0, 0, Usage::default());
    let begun = Instant::now();
    // SAFETY: `actions` has room for the structure and is initialised first; all other pointers
    // point to locals or to the environment.
    let failed = unsafe {
        posix_spawn_file_actions_init(actions);
        posix_spawn_file_actions_addopen(actions, 0, c"/dev/null".as_ptr(), 2, 0);
        posix_spawn_file_actions_adddup2(actions, 0, 1);
        posix_spawnp(
            &mut process,
            pointers[0],
            actions,
            std::ptr::null(),
            pointers.as_ptr(),
            environ,
        )
    };
    if failed != 0 {
        return Err(std::io::Error::from_raw_os_error(failed).to_string());
    }
    // SAFETY: both pointers point to locals, and `Usage` is as large as the kernel's structure.
    unsafe { wait4(process, &mut status, 0, (&raw mut usage).cast()) };
    let wall = begun.elapsed().as_secs_f64() * 1e3;
    if status != 0 {
        return Err(format!("it ended with status {status:#x}"));
    }
    let milliseconds = |[seconds, micros]: [c_long; 2]| seconds as f64 * 1e3 + micros as f64 / 1e3;
    Ok(Run {
        wall,
        cpu: milliseconds(usage.user) + milliseconds(usage.system),
        peak: usage.peak as f64 * 1024.0 / 1e6,
        page_faults: usage.page_faults as f64,
        switches: usage.switches.iter().sum::<c_long>() as f64,
    })
}

unsafe extern "C" {
    static environ: *const *const c_char;
    fn wait4(process: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int;
    fn posix_spawn_file_actions_init(actions: *mut c_void) -> c_int;
    fn posix_spawn_file_actions_adddup2(actions: *mut c_void, from: c_int, to: c_int) -> c_int;
    fn posix_spawn_file_actions_addopen(
        actions: *mut c_void,
        number: c_int,
        path: *const c_char,
        flags: c_int,
        mode: c_int,
    ) -> c_int;
    fn posix_spawnp(
        process: *mut c_int,
        program: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        words: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int;
}
