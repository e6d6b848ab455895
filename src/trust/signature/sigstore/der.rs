//! The one thing in a certificate that the sigstore library does not tell: its serial number.

/// The serial number of an X.509 certificate in DER, in lower hexadecimal digits without leading
/// zeros (RFC 5280, section 4.1.2.2). `None` when it is no certificate.
pub(super) fn serial(certificate: &[u8]) -> Option<String> {
    const SEQUENCE: u8 = 0x30;
    const INTEGER: u8 = 0x02;
    const VERSION: u8 = 0xa0;
    let (certificate, _) = value(certificate, SEQUENCE)?;
    let (mut fields, _) = value(certificate, SEQUENCE)?;
    if let Some((_, rest)) = value(fields, VERSION) {
        fields = rest;
    }
    let (serial, _) = value(fields, INTEGER)?;
    let digits: String = serial.iter().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { "0".to_owned() } else { digits.to_owned() })
}

/// The contents of the first element, if it has that tag, and what comes after it.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(length) {
        short @ 0..=0x7f => (short, rest),
        // Longer lengths than of three bytes are not those of certificates.
        long @ 0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(long - 0x80)?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (first == tag).then(|| rest.split_at_checked(length))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_are_found() {
        let check = |der: &[u8], expected: Option<&str>| {
            assert_eq!(serial(der).as_deref(), expected, "{der:x?}");
        };
        check(&[0x30, 10, 0x30, 8, 0xa0, 3, 2, 1, 2, 2, 1, 0], Some("0"));
        check(&[0x30, 11, 0x30, 9, 0xa0, 3, 2, 1, 2, 2, 2, 0, 0xfa], Some("fa"));
        // Version 1 does not say so. The length is written long.
        check(&[0x30, 0x81, 6, 0x30, 4, 2, 2, 0x12, 0x03], Some("1203"));
        for length in 0..10 {
            check(&[0x30, 10, 0x30, 8, 0xa0, 3, 2, 1, 2, 2, 1, 0][..length], None);
        }
        check(&[0x30, 0x80, 0x30, 3, 2, 1, 5], None);
        check(&[0x30, 5, 0x30, 3, 4, 1, 5], None);
    }
}
