//! Bytes that are taken from the front, each time checked.

use crate::binlog::MalformedEvent;

/// The rest of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedEvent> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(MalformedEvent("it is cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedEvent> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, MalformedEvent> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, MalformedEvent> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, MalformedEvent> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, MalformedEvent> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A little-endian integer of `width` bytes, at most 8.
    pub(crate) fn uint(&mut self, width: usize) -> Result<u64, MalformedEvent> {
        let mut digits = [0; 8];
        let taken = self.take(width)?;
        digits
            .get_mut(..width)
            .ok_or(MalformedEvent("an integer is too wide"))?
            .copy_from_slice(taken);
        Ok(u64::from_le_bytes(digits))
    }

    /// A big-endian integer of `width` bytes, at most 8.
    pub(crate) fn uint_big_endian(&mut self, width: usize) -> Result<u64, MalformedEvent> {
        let taken = self.take(width)?;
        if width > 8 {
            return Err(MalformedEvent("an integer is too wide"));
        }
        Ok(taken
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// A length-encoded integer.
    pub(crate) fn length_encoded(&mut self) -> Result<u64, MalformedEvent> {
        match self.u8()? {
            first @ 0..=0xFA => Ok(u64::from(first)),
            0xFC => self.uint(2),
            0xFD => self.uint(3),
            0xFE => self.uint(8),
            _ => Err(MalformedEvent("an integer begins with 0xFB or 0xFF")),
        }
    }

    /// As many bytes as a length-encoded integer before them says.
    pub(crate) fn length_prefixed(&mut self) -> Result<&'a [u8], MalformedEvent> {
        let length = usize::try_from(self.length_encoded()?);
        self.take(length.map_err(|_| MalformedEvent("a length is too long"))?)
    }
}
