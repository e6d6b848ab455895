//! Copying bytes on x86-64, where musl's function is one instruction, `rep movsq`.
//!
//! The processor takes 12 to 30 nanoseconds to begin that, however little there is to copy, and a
//! message is moved a dozen times from its pipe to its reader. This takes 2 for what is short, and
//! leaves what is long to the same instruction.

#![allow(unsafe_code, reason = "the linker looks for this name, and the code is no Rust")]
#![allow(clippy::too_many_lines, reason = "an instruction a line")]

use std::arch::naked_asm;

/// `memcpy` of the C library, and more: `to` may be before `from` and overlap it.
///
/// So nothing is written before all that stood there was read: short blocks are read as a whole,
/// long ones from the beginning on, and their last 32 bytes first of all.
///
/// # Safety
/// `from` can be read and `to` be written, for `length` bytes, and `from` is not before `to` where they
/// overlap.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    // rdi: to, rsi: from, rdx: length. The result, in rax, is `to`.
    naked_asm!(
        "mov rax, rdi",
        "cmp rdx, 16",
        "jb 20f",
        // The first and the last 16 bytes, which share some below 32.
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + rdx - 16]",
        "cmp rdx, 32",
        "jbe 10f",
        "movups xmm2, [rsi + 16]",
        "movups xmm3, [rsi + rdx - 32]",
        "cmp rdx, 64",
        "ja 30f",
        "movups [rdi + 16], xmm2",
        "movups [rdi + rdx - 32], xmm3",
        "10:",
        "movups [rdi], xmm0",
        "movups [rdi + rdx - 16], xmm1",
        "ret",
        // 8 to 15, 4 to 7, and up to 3 bytes.
        "20:",
        "cmp edx, 8",
        "jb 21f",
        "mov rcx, [rsi]",
        "mov r8, [rsi + rdx - 8]",
        "mov [rdi], rcx",
        "mov [rdi + rdx - 8], r8",
        "ret",
        "21:",
        "cmp edx, 4",
        "jb 22f",
        "mov ecx, [rsi]",
        "mov r8d, [rsi + rdx - 4]",
        "mov [rdi], ecx",
        "mov [rdi + rdx - 4], r8d",
        "ret",
        "22:",
        "test edx, edx",
        "jz 23f",
        // The first, the middle and the last one, which may be the same.
        "mov r10d, edx",
        "shr r10d, 1",
        "movzx ecx, byte ptr [rsi]",
        "movzx r8d, byte ptr [rsi + r10]",
        "movzx r9d, byte ptr [rsi + rdx - 1]",
        "mov [rdi], cl",
        "mov [rdi + r10], r8b",
        "mov [rdi + rdx - 1], r9b",
        "23:",
        "ret",
        // More than 64 bytes, 32 in a step: the last step ends before the last 32.
        "30:",
        "cmp rdx, {long}",
        "ja 40f",
        "lea r8, [rdi + rdx]",
        "sub rdx, 33",
        "shr rdx, 5",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm2",
        "31:",
        "add rsi, 32",
        "add rdi, 32",
        "movups xmm0, [rsi]",
        "movups xmm2, [rsi + 16]",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm2",
        "dec rdx",
        "jnz 31b",
        "movups [r8 - 32], xmm3",
        "movups [r8 - 16], xmm1",
        "ret",
        // Eight bytes in a step, and the last 16 last.
        "40:",
        "lea r8, [rdi + rdx]",
        "mov rcx, rdx",
        "shr rcx, 3",
        "rep movsq",
        "movups [r8 - 16], xmm1",
        "ret",
        long = const 1024,
    )
}

/// `memmove` of the C library. That of musl needs the `memcpy` of musl.
///
/// # Safety
/// `from` can be read and `to` be written, for `length` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    naked_asm!(
        // The other one will do if `to` is before `from` or behind it all, or it is short.
        "mov rcx, rdi",
        "sub rcx, rsi",
        "cmp rcx, rdx",
        "jae {memcpy}",
        "cmp rdx, 64",
        "jbe {memcpy}",
        // From the end on, 32 bytes in a step, and the first 32 last.
        "mov rax, rdi",
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + 16]",
        "10:",
        "movups xmm2, [rsi + rdx - 16]",
        "movups xmm3, [rsi + rdx - 32]",
        "movups [rdi + rdx - 16], xmm2",
        "movups [rdi + rdx - 32], xmm3",
        "sub rdx, 32",
        "cmp rdx, 32",
        "ja 10b",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm1",
        "ret",
        memcpy = sym memcpy,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    type Copy = unsafe extern "C" fn(*mut u8, *const u8, usize) -> *mut u8;

    /// Copies inside of a buffer, from and to these places, and compares with what Rust does.
    #[track_caller]
    fn check(copy: Copy, from: usize, to: usize, length: usize) {
        let mut bytes: Vec<u8> = (0..4096_u32).map(|at| (at * 7 % 251) as u8).collect();
        let mut expected = bytes.clone();
        expected.copy_within(from..from + length, to);
        let start = bytes.as_mut_ptr();
        // SAFETY: both places are inside of the buffer, and `memcpy` is tried only where the
        // destination is the first of the two if they overlap.
        unsafe {
            let result = copy(start.add(to), start.add(from), length);
            assert_eq!(result, start.add(to));
        }
        assert!(bytes == expected, "{length} bytes from {from} to {to}");
    }

    #[test]
    fn what_is_there_is_copied_and_nothing_else() {
        for length in (0..300).chain(1000..1100) {
            for (from, to) in [(0, 2000), (2001, 3), (1500, 17)] {
                check(memcpy, from, to, length);
                check(memmove, from, to, length);
            }
        }
    }

    #[test]
    fn what_overlaps_is_read_before_it_is_written() {
        for length in (0..200).chain(1020..1030).chain([2000]) {
            for distance in [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100] {
                check(memcpy, 500 + distance, 500, length);
                check(memmove, 500 + distance, 500, length);
                check(memmove, 500, 500 + distance, length);
            }
        }
    }
}
