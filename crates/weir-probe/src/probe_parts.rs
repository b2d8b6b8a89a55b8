//! A probe whose source has several parts: one that cannot be read is named once, the others go on.

use crate::{ProbeError, Readings};

/// One part of a source.
pub(crate) trait Part<Source: ?Sized>: Send {
    /// Returns the name of its source, for messages.
    fn name(&self) -> &'static str;

    /// Reads it once.
    fn read(&mut self, source: &mut Source, readings: &mut Readings) -> Result<(), ProbeError>;
}

/// All parts that can still be read.
pub(crate) struct Parts<Source: ?Sized>(Vec<Box<dyn Part<Source>>>);

impl<Source: ?Sized> Parts<Source> {
    pub(crate) fn new(parts: Vec<Box<dyn Part<Source>>>) -> Self {
        Self(parts)
    }

    /// Reads all parts. A part whose failure `is_lasting` is lost from now on; any other failure
    /// is the whole sample's.
    pub(crate) fn read(
        &mut self,
        source: &mut Source,
        readings: &mut Readings,
        is_lasting: fn(&ProbeError) -> bool,
    ) -> Result<(), ProbeError> {
        let mut position = 0;
        while let Some(part) = self.0.get_mut(position) {
            match part.read(source, readings) {
                Ok(()) => position += 1,
                Err(error) if is_lasting(&error) => {
                    readings.lose(part.name(), error);
                    self.0.remove(position);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<Source: ?Sized> std::fmt::Debug for Parts<Source> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|part| part.name()))
            .finish()
    }
}
