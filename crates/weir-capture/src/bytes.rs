//! Numbers and texts as bytes: LEB128, and lengths before what has one.

/// Appends a number, seven bits a byte.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a number that may be negative; small ones are short.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Appends bytes with their length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Bytes that are read from their beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

/// Bytes that end too early or have values that no writer makes.
pub(crate) const CUT: &str = "a record is cut short";

impl<'a> Cursor<'a> {
    pub(crate) fn byte(&mut self) -> Result<u8, &'static str> {
        let (&first, rest) = self.0.split_first().ok_or(CUT)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn number(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number is too long")
    }

    pub(crate) fn number_u32(&mut self) -> Result<u32, &'static str> {
        u32::try_from(self.number()?).map_err(|_| "a number is too large")
    }

    pub(crate) fn signed(&mut self) -> Result<i64, &'static str> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    pub(crate) fn take(&mut self, length: u64) -> Result<&'a [u8], &'static str> {
        let length = usize::try_from(length).map_err(|_| CUT)?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or(CUT)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.number()?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Result<String, &'static str> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut out = Vec::new();
        let unsigned = [0, 1, 127, 128, 300, u64::MAX];
        let signed = [0, -1, 63, -64, 64, i64::MAX, i64::MIN];
        for number in unsigned {
            put_number(&mut out, number);
        }
        for number in signed {
            put_signed(&mut out, number);
        }
        put_bytes(&mut out, b"text");
        let mut cursor = Cursor(&out);
        for number in unsigned {
            assert_eq!(cursor.number(), Ok(number));
        }
        for number in signed {
            assert_eq!(cursor.signed(), Ok(number));
        }
        assert_eq!(cursor.bytes(), Ok(&b"text"[..]));
        assert!(cursor.0.is_empty());
        assert!(cursor.byte().is_err());
        assert!(Cursor(&[0xFF; 11]).number().is_err());
        assert!(Cursor(&[9, 1]).bytes().is_err());
    }
}
