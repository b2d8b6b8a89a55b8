//! The file of `mysql_config_editor`, `~/.mylogin.cnf`: an option file that is hidden from a passing eye, no more.
//!
//! Its layout is described in MySQL's `mysql_config_editor` chapter only as "obfuscated"; public readers of it
//! agree on the rest: four unused bytes, 20 bytes that are folded into the key of AES-128, and then
//! lines, each as its length (32 bits, little-endian) and its blocks, encrypted one by one (ECB) with the
//! padding of PKCS #7.

use aes::Aes128;
use aes::cipher::{Array, BlockCipherDecrypt as _, KeyInit as _};

/// The mode bits of others than its owner: none may be set.
pub(super) const FORBIDDEN_MODE: u32 = 0o177;
const UNUSED_BYTES: usize = 4;
const KEY_BYTES: usize = 20;
const BLOCK_BYTES: usize = 16;

/// The text of the file, or `None` if it is not of this form.
pub(super) fn decrypt(file: &[u8]) -> Option<Vec<u8>> {
    let (_, rest) = file.split_at_checked(UNUSED_BYTES)?;
    let (folded, mut rest) = rest.split_at_checked(KEY_BYTES)?;
    let mut key = [0; BLOCK_BYTES];
    for (at, byte) in folded.iter().enumerate() {
        key[at % BLOCK_BYTES] ^= byte;
    }
    let cipher = Aes128::new(&key.into());
    let mut text = Vec::with_capacity(rest.len());
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (line, after) = after.split_at_checked(length)?;
        decrypt_line(&cipher, line, &mut text)?;
        rest = after;
    }
    rest.is_empty().then_some(text)
}

fn decrypt_line(cipher: &Aes128, line: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let (blocks, []) = line.as_chunks::<BLOCK_BYTES>() else {
        return None;
    };
    let start = text.len();
    for block in blocks {
        let mut block = Array::from(*block);
        cipher.decrypt_block(&mut block);
        text.extend_from_slice(&block);
    }
    let padding = usize::from(*text[start..].last()?);
    if !(1..=BLOCK_BYTES).contains(&padding) {
        return None;
    }
    text.truncate(text.len() - padding);
    Some(())
}
