//! Identification of an `NVMe` device: the largest write that a power failure does not tear.
//!
//! NVM Express Base Specification 2.0, "Identify command", and NVM Command Set Specification 1.0,
//! "Identify Controller" (VWC, AWUPF) and "Identify Namespace" (NSFEAT, NAWUPF, NABSPF); asked through
//! `include/uapi/linux/nvme_ioctl.h`, which needs root.

use std::fs::File;
use std::path::Path;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use serde::Serialize;
use weir_model::Bytes;

/// Bytes of each answer.
const ANSWER: usize = 4096;
/// The admin command "Identify".
const IDENTIFY: u8 = 0x06;
/// Structure to ask for: CNS.
const NAMESPACE: u32 = 0;
const CONTROLLER: u32 = 1;
const TIMEOUT_MS: u32 = 5_000;

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    /// Command dwords 10 to 15.
    arguments: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// `NVME_IOCTL_ADMIN_CMD`.
const ADMIN_COMMAND: Opcode = opcode::read_write::<AdminCommand>(b'N', 0x41);

/// Answer of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nvme {
    /// It answered.
    Identified(NvmeIdentity),
    /// Reason that it was not asked, in the system's words.
    NotReadable(String),
}

/// Relevant fields of its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NvmeIdentity {
    /// AWUPF, or the namespace's own NAWUPF: a write of so many bytes is all there or not at all after a
    /// power failure.
    pub power_fail_atomic_bytes: u64,
    /// NABSPF: a write that crosses a multiple of this is not atomic; `None`: no such boundary.
    pub boundary_bytes: Option<u64>,
    /// VWC: it has a cache that a power failure empties.
    pub volatile_cache: bool,
}

impl Nvme {
    /// Asks the device with the block device node `node` and the folder `sysfs`; `None`: it is no `NVMe` device.
    pub(super) fn for_node(node: &Path, sysfs: &Path) -> Option<Self> {
        let namespace = std::fs::read_to_string(sysfs.join("nsid")).ok()?;
        let namespace = namespace.trim().parse().ok()?;
        Some(match identify(node, namespace) {
            Ok(identity) => Self::Identified(identity),
            Err(why) => Self::NotReadable(format!("{}: {why}", node.display())),
        })
    }

    pub(super) fn line(&self) -> String {
        match self {
            Self::NotReadable(why) => {
                format!("  NVMe identify: not readable ({why}); root may read it")
            }
            Self::Identified(identity) => format!(
                "  NVMe identify: a power failure tears no write of up to {}{}; write cache {}",
                Bytes(identity.power_fail_atomic_bytes),
                identity
                    .boundary_bytes
                    .map_or(String::new(), |bytes| format!(
                        " that crosses no multiple of {}",
                        Bytes(bytes)
                    )),
                if identity.volatile_cache {
                    "volatile"
                } else {
                    "none, or protected"
                }
            ),
        }
    }
}

fn identify(node: &Path, namespace: u32) -> Result<NvmeIdentity, String> {
    let device = File::open(node).map_err(|error| error.to_string())?;
    let ask = |what, namespace| ask(&device, what, namespace).map_err(|errno| errno.to_string());
    let of_namespace = ask(NAMESPACE, namespace)?;
    Ok(NvmeIdentity::parse(&*ask(CONTROLLER, 0)?, &of_namespace))
}

/// One Identify command.
#[allow(unsafe_code)] // no safe interface to the device's admin commands
fn ask(device: &File, what: u32, namespace: u32) -> Result<Box<[u8; ANSWER]>, Errno> {
    let mut answer = Box::new([0; ANSWER]);
    let mut command = AdminCommand {
        opcode: IDENTIFY,
        namespace,
        address: answer.as_mut_ptr() as u64,
        data_bytes: ANSWER as u32,
        arguments: [what, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..AdminCommand::default()
    };
    // SAFETY: the operation takes this struct, whose address is that of a live buffer of as many bytes as
    // it says; the kernel writes there and no further. A device of another kind answers ENOTTY.
    unsafe { ioctl(device, Updater::<ADMIN_COMMAND, _>::new(&mut command)) }?;
    Ok(answer)
}

impl NvmeIdentity {
    /// Reads the two answers. Sizes are in logical blocks and count from 0.
    fn parse(controller: &[u8; ANSWER], namespace: &[u8; ANSWER]) -> Self {
        let le16 = |bytes: &[u8; ANSWER], at: usize| {
            u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
        };
        // FLBAS: bits 0-3 are the low bits of the format's number, 5-6 the high ones.
        let flbas = usize::from(namespace[26]);
        let format = flbas & 0xf | (flbas >> 1) & 0x30;
        // LBADS: the block's size as a power of two.
        let block = 1_u64 << namespace[128 + 4 * format + 2].clamp(9, 24);
        // NSABP: the namespace's own values count.
        let has_own = namespace[24] & 1 << 1 != 0;
        let blocks = if has_own {
            le16(namespace, 36)
        } else {
            le16(controller, 528)
        };
        let boundary = if has_own { le16(namespace, 44) } else { 0 };
        Self {
            power_fail_atomic_bytes: (blocks + 1) * block,
            boundary_bytes: (boundary > 0).then(|| (boundary + 1) * block),
            volatile_cache: controller[525] & 1 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with blocks of 4 KiB in the second of two formats.
    fn answers() -> ([u8; ANSWER], [u8; ANSWER]) {
        let (mut controller, mut namespace) = ([0; ANSWER], [0; ANSWER]);
        controller[528] = 7;
        namespace[26] = 1;
        (namespace[130], namespace[134]) = (9, 12);
        (controller, namespace)
    }

    #[test]
    fn sizes_are_counted_from_nothing_in_blocks() {
        let (mut controller, mut namespace) = answers();
        let identity = NvmeIdentity::parse(&controller, &namespace);
        assert_eq!(identity.power_fail_atomic_bytes, 8 * 4096);
        assert_eq!(
            (identity.boundary_bytes, identity.volatile_cache),
            (None, false)
        );
        // An ordinary drive: a block and no more, and a cache.
        (controller[528], controller[525]) = (0, 1);
        let identity = NvmeIdentity::parse(&controller, &namespace);
        assert_eq!(identity.power_fail_atomic_bytes, 4096);
        assert!(identity.volatile_cache);
        // The namespace's own values.
        namespace[24] = 2;
        (namespace[36], namespace[44]) = (3, 31);
        let identity = NvmeIdentity::parse(&controller, &namespace);
        assert_eq!(identity.power_fail_atomic_bytes, 16_384);
        assert_eq!(identity.boundary_bytes, Some(32 * 4096));
    }

    #[test]
    fn a_device_of_another_kind_is_not_asked() {
        assert_eq!(size_of::<AdminCommand>(), 72, "as the kernel's");
        assert_eq!(ADMIN_COMMAND, 0xC048_4E41);
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Nvme::for_node(Path::new("/dev/null"), folder.path()), None);
        std::fs::write(folder.path().join("nsid"), "1\n").unwrap();
        let found = Nvme::for_node(Path::new("/dev/null"), folder.path()).unwrap();
        let Nvme::NotReadable(why) = &found else {
            panic!("{found:?}");
        };
        assert!(why.starts_with("/dev/null: "), "{why}");
        assert!(found.line().contains("root may read it"));
    }
}
