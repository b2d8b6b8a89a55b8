//! Identity of the storage below a folder: a verdict counts for it and for no other.
//!
//! Sources: sysfs (`Documentation/ABI/stable/sysfs-block`; `device/model`, `device/serial`, `device/firmware_rev` of `NVMe`,
//! `device/rev` and `device/vpd_pg80` of SCSI, `serial` of virtio), the mount table, uname(2).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use serde::{Deserialize, Serialize};
use weir_process::{Mount, PathError};

const UNKNOWN: &str = "unknown";
/// Options of a mount that change nothing of what a cut leaves.
const IRRELEVANT_OPTIONS: [&str; 6] = [
    "rw",
    "relatime",
    "noatime",
    "strictatime",
    "nodiratime",
    "lazytime",
];

/// Identity of the storage below a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageIdentity {
    /// Devices at the bottom, below volumes and arrays.
    pub devices: Vec<DeviceIdentity>,
    /// Block devices above them, such as `dm-0` or `md127`.
    pub layers: Vec<String>,
    /// Type of the file system.
    pub file_system: String,
    /// Options of the mount that may matter, in order.
    pub mount_options: Vec<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// The host is a guest: a cut of its power is no cut of the device's.
    pub guest: bool,
    /// Stand-in for a device, of which nothing follows for another one.
    pub substitute: Option<Substitute>,
}

/// Identity of a block device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// Name in sysfs; it may change at a restart.
    pub name: String,
    /// Model, or `unknown`.
    pub model: String,
    /// Serial number, or `unknown`.
    pub serial: String,
    /// Firmware, or `unknown`.
    pub firmware: String,
}

/// Storage that is no device that can lose its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Substitute {
    /// A drive that Weir emulates.
    Emulated,
    /// A loop device.
    Loop,
    /// Memory.
    Memory,
    /// A file system without a block device that sysfs knows: of a network, a container or FUSE.
    NoDevice,
}

impl Substitute {
    /// Name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Emulated => "a drive that Weir emulates",
            Self::Loop => "a loop device",
            Self::Memory => "a file system in memory",
            Self::NoDevice => "a file system without a block device that the kernel names",
        }
    }
}

impl DeviceIdentity {
    fn read(sysfs: &Path) -> Self {
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| text(&sysfs.join(name)));
            found.unwrap_or_else(|| UNKNOWN.to_owned())
        };
        Self {
            name: name(sysfs),
            model: text(&["device/model"]),
            serial: text(&["device/serial", "serial", "device/vpd_pg80"]),
            firmware: text(&["device/firmware_rev", "device/rev"]),
        }
    }

    /// Returns true if a serial number tells it from others of its model.
    pub fn has_serial(&self) -> bool {
        self.serial != UNKNOWN
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.model, &self.serial, &self.firmware)
            == (&other.model, &other.serial, &other.firmware)
    }
}

impl StorageIdentity {
    /// Looks below the existing folder `path`.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn below(path: &Path) -> Result<Self, PathError> {
        let folder = fs::metadata(path).map_err(PathError::on("read", path))?;
        let mount = Mount::for_path(path);
        let mut below = Below::default();
        if let Some(device) = block_device(folder.dev(), mount.as_ref()) {
            below.descend(&device);
        }
        below
            .devices
            .sort_by(|one, other| one.name.cmp(&other.name));
        below.layers.sort();
        let options = mount.iter().flat_map(|mount| mount.options.clone());
        let mut options: Vec<_> = options
            .filter(|option| !IRRELEVANT_OPTIONS.contains(&option.as_str()))
            .collect();
        options.sort();
        options.dedup();
        Ok(Self {
            substitute: substitute(mount.as_ref(), &below.devices),
            devices: below.devices,
            layers: below.layers,
            file_system: mount.map_or(UNKNOWN.to_owned(), |mount| mount.file_system),
            mount_options: options,
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
            guest: is_guest(),
        })
    }

    /// Returns the reasons that `other` is not this storage; none if it is. The kernel and the names of devices may
    /// differ.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let same = self.devices.len() == other.devices.len()
            && self.devices.iter().all(|device| {
                let mut others = other.devices.iter();
                others.any(|other| device.is_same(other))
            });
        if !same || self.substitute != other.substitute {
            found.push(format!(
                "the device is {}, not {}",
                other.words(),
                self.words()
            ));
        }
        if let Some(device) = self.devices.iter().find(|device| !device.has_serial()) {
            found.push(format!(
                "{} has no serial number that the kernel knows, so it cannot be told from another one",
                device.name
            ));
        }
        if self.layers.len() != other.layers.len() {
            found.push(format!(
                "{} volumes or arrays lie above the device, not {}",
                other.layers.len(),
                self.layers.len()
            ));
        }
        if self.file_system != other.file_system {
            found.push(format!(
                "the file system is {}, not {}",
                other.file_system, self.file_system
            ));
        }
        if self.mount_options != other.mount_options {
            let words = |options: &[String]| format!("`{}`", options.join(","));
            found.push(format!(
                "the mount has the options {}, not {}",
                words(&other.mount_options),
                words(&self.mount_options)
            ));
        }
        found
    }

    /// Names of the devices in a sentence.
    pub fn words(&self) -> String {
        if let Some(substitute) = self.substitute {
            return substitute.name().to_owned();
        }
        let device = |device: &DeviceIdentity| {
            format!(
                "{} (serial {}, firmware {})",
                device.model, device.serial, device.firmware
            )
        };
        let devices: Vec<_> = self.devices.iter().map(device).collect();
        devices.join(" and ")
    }
}

/// Devices that are met on the way down.
#[derive(Default)]
struct Below {
    devices: Vec<DeviceIdentity>,
    layers: Vec<String>,
}

impl Below {
    fn descend(&mut self, sysfs: &Path) {
        let disk = match sysfs.parent() {
            Some(disk) if sysfs.join("partition").exists() => disk,
            _ => sysfs,
        };
        let slaves = fs::read_dir(disk.join("slaves")).into_iter().flatten();
        let slaves: Vec<_> = slaves
            .filter_map(|slave| fs::canonicalize(slave.ok()?.path()).ok())
            .collect();
        if slaves.is_empty() {
            let found = DeviceIdentity::read(disk);
            if !self.devices.contains(&found) {
                self.devices.push(found);
            }
            return;
        }
        self.layers.push(name(disk));
        for slave in slaves {
            self.descend(&slave);
        }
    }
}

/// Returns the folder in sysfs of the block device below a file system. One with device numbers of its own (btrfs) names
/// the device as the source of its mount.
fn block_device(number: u64, mount: Option<&Mount>) -> Option<PathBuf> {
    let by_number = |number: u64| {
        fs::canonicalize(format!(
            "/sys/dev/block/{}:{}",
            major(number),
            minor(number)
        ))
        .ok()
    };
    by_number(number).or_else(|| {
        let source = Path::new(&mount?.source);
        let device = fs::metadata(source.starts_with("/dev").then_some(source)?).ok()?;
        by_number(device.rdev())
    })
}

fn substitute(mount: Option<&Mount>, devices: &[DeviceIdentity]) -> Option<Substitute> {
    let has = |kinds: &[&str]| {
        let mut names = devices.iter().map(|device| device.name.as_str());
        names.any(|name| kinds.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit())))
    };
    if mount.is_some_and(Mount::is_drive) {
        Some(Substitute::Emulated)
    } else if mount.is_some_and(Mount::is_in_memory) || has(&["zram", "ram"]) {
        Some(Substitute::Memory)
    } else if has(&["loop"]) {
        Some(Substitute::Loop)
    } else {
        devices.is_empty().then_some(Substitute::NoDevice)
    }
}

fn is_guest() -> bool {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    processors
        .split_whitespace()
        .any(|flag| flag == "hypervisor")
        || Path::new("/sys/hypervisor/type").exists()
}

fn name(sysfs: &Path) -> String {
    let name = sysfs.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Printable text of an attribute; a page of vital product data begins with four bytes that are none.
fn text(file: &Path) -> Option<String> {
    let bytes = fs::read(file).ok()?;
    let text: String = bytes
        .iter()
        .map(|byte| char::from(*byte))
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(serial: &str) -> StorageIdentity {
        StorageIdentity {
            devices: vec![DeviceIdentity {
                name: "nvme0n1".to_owned(),
                model: "Model".to_owned(),
                serial: serial.to_owned(),
                firmware: "1.0".to_owned(),
            }],
            layers: Vec::new(),
            file_system: "xfs".to_owned(),
            mount_options: vec!["attr2".to_owned()],
            kernel: "6.12".to_owned(),
            guest: false,
            substitute: None,
        }
    }

    #[test]
    fn another_name_or_kernel_is_the_same_storage_and_all_else_is_not() {
        let own = disk("S1");
        let mut renamed = own.clone();
        renamed.devices[0].name = "nvme1n1".to_owned();
        renamed.kernel = "6.18".to_owned();
        assert!(own.differences(&renamed).is_empty());
        let changed = |change: fn(&mut StorageIdentity), words: &str| {
            let mut other = disk("S1");
            change(&mut other);
            let [found] = own.differences(&other).try_into().unwrap();
            assert!(found.contains(words), "{found}");
        };
        changed(
            |other| other.devices[0].serial = "S2".to_owned(),
            "serial S2",
        );
        changed(
            |other| other.devices[0].firmware = "1.1".to_owned(),
            "firmware 1.1",
        );
        changed(
            |other| other.layers.push("dm-0".to_owned()),
            "1 volumes or arrays",
        );
        changed(
            |other| other.file_system = "ext4".to_owned(),
            "is ext4, not xfs",
        );
        changed(
            |other| other.mount_options.push("nobarrier".to_owned()),
            "nobarrier",
        );
        changed(
            |other| other.substitute = Some(Substitute::Loop),
            "a loop device",
        );
        assert_eq!(disk(UNKNOWN).differences(&disk(UNKNOWN)).len(), 1);
    }

    #[test]
    fn what_only_stands_for_a_device_is_seen() {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            let found = StorageIdentity::below(memory).unwrap();
            assert_eq!(found.substitute, Some(Substitute::Memory));
        }
        let found = StorageIdentity::below(Path::new("/proc")).unwrap();
        assert_eq!(found.substitute, Some(Substitute::NoDevice));
        assert!(StorageIdentity::below(Path::new("/no/such")).is_err());
    }
}
