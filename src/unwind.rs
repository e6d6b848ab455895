//! Nobody goes back up the stack in the static binary.
//!
//! A panic ends it, and the tables that tell how the stack is laid out are left out of it
//! (`scripts/link/static.ld`). The standard library would bring what reads those tables all the
//! same, and the symbols of a file that has none: 200 KB to print an empty backtrace. Where there
//! are functions by these names already, the linker looks no further, and the compiler sees that
//! what is called for every frame is never called.
//!
//! The names are those of the Itanium C++ ABI, Exception Handling, 1.2 and 1.3.

#![allow(unsafe_code, reason = "the linker looks for these names")]

use std::ffi::{c_int, c_void};
use std::ptr;

/// `_URC_END_OF_STACK`: there is no frame (any more).
const END_OF_STACK: c_int = 5;

/// Calls a function for every frame, of which there is none.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_of_frame: *const c_void, _state: *mut c_void) -> c_int {
    END_OF_STACK
}

/// Goes on with what never began.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume(_exception: *mut c_void) -> ! {
    std::process::abort()
}

/// Functions that ask about a frame, and get zero.
macro_rules! of_frame {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $zero:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_frame: *mut c_void, $($argument: $kind),*) -> $result {
            $zero
        }
    )*};
}

of_frame! {
    _Unwind_GetLanguageSpecificData() -> *const c_void = ptr::null();
    _Unwind_GetRegionStart() -> usize = 0;
    _Unwind_GetTextRelBase() -> usize = 0;
    _Unwind_GetDataRelBase() -> usize = 0;
    _Unwind_GetIP() -> usize = 0;
    _Unwind_GetIPInfo(_before: *mut c_int) -> usize = 0;
    _Unwind_SetGR(_register: c_int, _value: usize) -> () = ();
    _Unwind_SetIP(_value: usize) -> () = ();
}
