//! Applicability of a crash test's verdict to a server.
//!
//! A crash test cuts an emulated drive: it proves that this server, with these settings, loses nothing *if* the
//! storage keeps the drive's rules. So it counts only for the same server on storage of which those rules are
//! known: by its promises, or by power cuts of that storage (`cut_evidence.rs`).

use weir_model::{Bytes, Doublewrite, Flavor, ServerVariables, ServerVersion};

use crate::crash_test::CrashTest;
use crate::cut::Cut;
use crate::cut_evidence::CutEvidence;
use crate::data_storage::DataStorage;
use crate::decisive_settings::{SettingDifference, decisive, differences};
use crate::test_settings::Variables;
use crate::verdict::Verdict;

/// A running server that a verdict is to count for.
#[derive(Clone, Copy, Debug)]
pub struct ServerInQuestion<'a> {
    /// Flavor of the server.
    pub flavor: Flavor,
    /// Version of the server.
    pub version: ServerVersion,
    /// All that it says of its variables.
    pub variables: &'a Variables,
}

/// Reasons that a crash test does not count for a server on some storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objections {
    /// Problems of the test itself.
    pub of_the_test: Vec<String>,
    /// In what the servers differ.
    pub of_the_server: Vec<String>,
    /// Assumed rules that nothing shows of the storage.
    pub of_the_storage: Vec<String>,
}

impl Objections {
    /// All of them, the test's first.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let all = [&self.of_the_test, &self.of_the_server, &self.of_the_storage];
        all.into_iter().flatten().map(String::as_str)
    }
}

impl CrashTest {
    /// Returns the reasons that it does not count for `server` on `ground`, or that the ground cannot be looked at.
    /// Power cuts may have shown more than the ground promises. No objections: it counts.
    pub fn objections(
        &self,
        server: &ServerInQuestion<'_>,
        ground: Result<&DataStorage, &str>,
        cuts: Option<&CutEvidence>,
    ) -> Objections {
        let of_the_storage = match (ground, cuts) {
            (Ok(DataStorage::Storage(storage)), Some(cuts)) => {
                let said = ServerVariables::said(server.flavor, server.variables);
                let is_direct = said.writes_pages_directly() == Some(true);
                match cuts.kept(storage, said.page_size(), is_direct) {
                    Ok(kept) => kept.lacks(&self.setting.rules),
                    Err(against) => against,
                }
            }
            (Ok(ground), _) => ground.kept().lacks(&self.setting.rules),
            (Err(why), _) => vec![why.to_owned()],
        };
        Objections {
            of_the_test: self.own_objections(server),
            of_the_server: self.other_server(server),
            of_the_storage,
        }
    }

    /// A test of what is to be done: doublewrite off, the power cut, nothing damaged, and pages whole by rule and
    /// not by chance.
    fn own_objections(&self, server: &ServerInQuestion<'_>) -> Vec<String> {
        let setting = &self.setting;
        let tested = ServerVariables::said(setting.flavor, &setting.said);
        let page = ServerVariables::said(server.flavor, server.variables).page_size();
        let held = match self.verdict {
            Verdict::Held { .. } => None,
            Verdict::Failed { .. } => Some("it failed".to_owned()),
            Verdict::Blind => Some("its control found no damage either".to_owned()),
        };
        let doublewrite = match tested.doublewrite() {
            Some(Doublewrite::Off) => None,
            Some(Doublewrite::DetectsOnly) => Some("it was made with DETECT_ONLY".to_owned()),
            _ => Some("it was made with the doublewrite buffer on".to_owned()),
        };
        let cut = (setting.cut != Cut::Power).then(|| "no power was cut in it".to_owned());
        let tears = !setting.rules.atomicity.keeps_whole(page.0);
        let tears = tears.then(|| tears_by_rule(page));
        [held, doublewrite, cut, tears]
            .into_iter()
            .flatten()
            .collect()
    }

    fn other_server(&self, server: &ServerInQuestion<'_>) -> Vec<String> {
        let setting = &self.setting;
        let program = |flavor: Flavor, version: &str| format!("{flavor} {version}");
        let tested = program(setting.flavor, &setting.version);
        let found = program(server.flavor, &server.version.to_string());
        if setting.flavor != server.flavor {
            return vec![format!("the server is {found}, the test was of {tested}")];
        }
        let other_version =
            (tested != found).then(|| format!("the server is {found}, the test was of {tested}"));
        let settings = self.differences(server);
        let settings = settings.iter().map(SettingDifference::words);
        other_version.into_iter().chain(settings).collect()
    }

    fn differences(&self, server: &ServerInQuestion<'_>) -> Vec<SettingDifference> {
        let found = decisive(server.variables.clone());
        differences(server.flavor, &self.setting.said, &found)
    }

    /// The command that makes such a test of `server` on a drive like what is below it.
    pub fn again_for(
        &self,
        server: &ServerInQuestion<'_>,
        ground: Result<&DataStorage, &str>,
    ) -> String {
        let drive = match ground {
            Ok(DataStorage::Emulated { drive, .. }) => drive,
            _ => &self.setting.drive,
        };
        let differing = self.differences(server);
        let own = format!(
            "--server {} --drive {drive} --doublewrite off",
            server.flavor
        );
        let options = differing.iter().filter_map(SettingDifference::option);
        let options: Vec<_> = [own].into_iter().chain(options).collect();
        format!("weir crash-test run {} --json", options.join(" "))
    }
}

fn tears_by_rule(page: Bytes) -> String {
    format!("its drive may tear pages of {page}, so that it held is chance")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use weir_model::Atomicity;

    use super::*;
    use crate::crash_test::{FORMAT, Setting};
    use crate::cut_evidence::tests::evidence;
    use crate::device_rules::{CacheRule, DeviceRules};
    use crate::storage::{BlockDevice, Storage};
    use crate::test_settings::variables;
    use crate::verdict::Tally;

    const SAID: [(&str, &str); 4] = [
        ("innodb_doublewrite", "OFF"),
        ("innodb_page_size", "16384"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_redo_log_capacity", "104857600"),
    ];

    fn rules(cache: CacheRule, unit: u64) -> DeviceRules {
        DeviceRules {
            cache,
            cache_size: Bytes(64 << 20),
            atomicity: Atomicity {
                unit: Bytes(unit),
                ..Atomicity::default()
            },
        }
    }

    /// A test of MySQL 9.7.4 that held on a drive with whole pages and power-loss protection.
    fn test() -> CrashTest {
        CrashTest {
            format: FORMAT,
            setting: Setting {
                server: PathBuf::new(),
                flavor: Flavor::Mysql,
                version: "9.7.4".to_owned(),
                drive: "scaleflux-csd2000".to_owned(),
                cut: Cut::Power,
                rules: rules(CacheRule::PowerProtected, 16_384),
                variables: Variables::new(),
                said: variables(&SAID),
                states: 300,
                seed: 1,
                recording: "recording".to_owned(),
                own_complaints: Vec::new(),
            },
            control_setting: None,
            tally: Tally::count(&[]),
            control: None,
            verdict: Verdict::Held {
                states: 300,
                at_most: 0.01,
            },
            commits: 1,
            order_entry_transactions: 0,
            events: 1,
            judging_s: 1.0,
            states: Vec::new(),
            control_states: Vec::new(),
        }
    }

    fn emulated(rules: DeviceRules) -> DataStorage {
        DataStorage::Emulated {
            drive: "scaleflux-csd2000".to_owned(),
            mountpoint: "/mnt".into(),
            rules,
        }
    }

    /// ext4 on a disk that promises `atomic` and has a volatile cache or none.
    fn ext4(atomic: u32, volatile_cache: bool) -> DataStorage {
        DataStorage::Storage(Storage {
            path: "/var/lib/mysql".into(),
            file_system: Some("ext4".to_owned()),
            in_memory: false,
            flushes_withheld: false,
            direct: true,
            direct_alignment: Some(512),
            file_system_atomic: (atomic > 0).then_some(atomic),
            extent_unit: atomic.max(4096),
            device: Some(BlockDevice {
                name: "vda".to_owned(),
                logical_block: Some(512),
                physical_block: Some(512),
                atomic_write_max: Some(atomic),
                volatile_cache: Some(volatile_cache),
                nvme: None,
            }),
        })
    }

    /// The objections to `test` for a server with `changed` variables on `ground`.
    fn said_against(
        test: &CrashTest,
        changed: &[(&str, &str)],
        ground: &DataStorage,
    ) -> Vec<String> {
        let mut found = variables(&SAID);
        found.extend(variables(&[("innodb_doublewrite", "ON")]));
        found.extend(variables(changed));
        let server = ServerInQuestion {
            flavor: Flavor::Mysql,
            version: "9.7.4".parse().unwrap(),
            variables: &found,
        };
        let objections = test.objections(&server, Ok(ground), None);
        objections.all().map(str::to_owned).collect()
    }

    #[test]
    fn a_verdict_of_an_emulated_drive_says_nothing_of_other_storage() {
        let against = |ground| said_against(&test(), &[], &ground);
        let [unit, cache] = against(ext4(0, true)).try_into().unwrap();
        assert_eq!(
            unit,
            "the storage promises writes of 512 untorn, the test assumed 16K"
        );
        assert!(
            cache.contains("volatile cache") && cache.contains("power-loss"),
            "{cache}"
        );
        assert_eq!(against(ext4(16_384, true)).len(), 1);
        assert!(against(ext4(16_384, false)).is_empty());
        assert!(against(emulated(test().setting.rules)).is_empty());
        assert_eq!(
            against(emulated(rules(CacheRule::Volatile, 16_384))).len(),
            1
        );
    }

    #[test]
    fn cuts_of_the_same_device_show_what_it_does_not_promise() {
        let found = variables(&SAID);
        let server = ServerInQuestion {
            flavor: Flavor::Mysql,
            version: "9.7.4".parse().unwrap(),
            variables: &found,
        };
        let against = |extent_unit, cuts: &CutEvidence| {
            let DataStorage::Storage(mut storage) = ext4(0, true) else {
                unreachable!()
            };
            storage.extent_unit = extent_unit;
            let ground = DataStorage::Storage(storage);
            let objections = test().objections(&server, Ok(&ground), Some(cuts));
            let all: Vec<_> = objections.all().map(str::to_owned).collect();
            all
        };
        let shown = evidence(20, |_| ());
        assert!(against(16_384, &shown).is_empty());
        let [extents] = against(4096, &shown).try_into().unwrap();
        assert!(extents.contains("across two extents"), "{extents}");
        let [few] = against(16_384, &evidence(19, |_| ())).try_into().unwrap();
        assert!(few.contains("20 are needed"), "{few}");
    }

    #[test]
    fn a_verdict_counts_for_the_tested_server_only() {
        let own = emulated(test().setting.rules);
        for (changed, words) in [
            (("innodb_page_size", "8192"), "innodb_page_size is 8192"),
            (
                ("innodb_flush_method", "fsync"),
                "innodb_flush_method is fsync",
            ),
            (
                ("innodb_redo_log_capacity", "8388608"),
                "the test had 104857600",
            ),
            (("innodb_use_native_aio", "OFF"), "the test does not say"),
        ] {
            let [against] = said_against(&test(), &[changed], &own).try_into().unwrap();
            assert!(against.contains(words), "{against}");
        }
        assert!(said_against(&test(), &[("innodb_flush_method", "4")], &own).is_empty());
        let mut other = test();
        other.setting.version = "9.7.3".to_owned();
        let [version] = said_against(&other, &[], &own).try_into().unwrap();
        assert_eq!(
            version,
            "the server is mysql 9.7.4, the test was of mysql 9.7.3"
        );
    }

    #[test]
    fn a_test_of_something_else_proves_nothing() {
        let against = |change: fn(&mut CrashTest)| {
            let mut test = test();
            change(&mut test);
            let own = emulated(test.setting.rules);
            let [against] = said_against(&test, &[], &own).try_into().unwrap();
            against
        };
        let said = |test: &mut CrashTest, value: &str| {
            test.setting
                .said
                .insert("innodb_doublewrite".to_owned(), value.to_owned());
        };
        assert!(against(|test| test.verdict = Verdict::Blind).contains("control"));
        assert!(against(|test| test.setting.cut = Cut::ProcessKill).contains("no power"));
        let mut on = test();
        said(&mut on, "ON");
        let own = emulated(on.setting.rules);
        assert!(said_against(&on, &[], &own)[0].contains("buffer on"));
        let by_chance = against(|test| test.setting.rules = rules(CacheRule::PowerProtected, 4096));
        assert!(by_chance.contains("is chance"), "{by_chance}");
    }

    #[test]
    fn the_command_that_is_missing_is_told() {
        let mut found = variables(&SAID);
        found.extend(variables(&[
            ("innodb_redo_log_capacity", "8388608"),
            ("innodb_flush_log_at_trx_commit", "2"),
        ]));
        let server = ServerInQuestion {
            flavor: Flavor::Mysql,
            version: "9.7.4".parse().unwrap(),
            variables: &found,
        };
        assert_eq!(
            test().again_for(&server, Err("elsewhere")),
            "weir crash-test run --server mysql --drive scaleflux-csd2000 --doublewrite off \
             --flush-log-at-trx-commit 2 --set innodb_redo_log_capacity=8388608 --json"
        );
    }
}
