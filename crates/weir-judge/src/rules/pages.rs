//! Protection of a cell's pages, as far as it is known: rules R2 and R3 ask.

use weir_model::{
    CrashTest, Doublewrite, DriveProfile, PagesInQuestion, ServerVariables, ServerVersion,
};

use super::{Design, Evidence};

/// Protection of a page in a power cut.
#[derive(Debug, PartialEq)]
pub(super) enum Protection<'a> {
    /// Torn pages are repaired.
    Doublewrite,
    /// The profile of this emulated drive promises it, and a crash test of this server held while the drive kept
    /// its profile.
    Tested(&'a DriveProfile),
    /// The profile promises it, and no crash test of this server counts; the reason against one that there is.
    Promised(&'a DriveProfile, Option<String>),
    /// Nothing.
    None(String),
}

/// A cell whose pages are in question.
struct Pages<'a> {
    variables: &'a ServerVariables<'a>,
    version: Option<ServerVersion>,
}

/// Of the cell `index` before it runs; a server's default is unknown then.
pub(super) fn of_design<'a>(design: &Design<'a>, index: usize) -> Option<Protection<'a>> {
    let pages = Pages {
        variables: design.variables(index),
        version: design.version(index),
    };
    let drive = design.profile(&design.plan.cells[index]);
    pages.protection(drive, &design.plan.crash_tests)
}

/// Of the cell `index` as its server was.
pub(super) fn of_result<'a>(evidence: &Evidence<'a>, index: usize) -> Option<Protection<'a>> {
    let variables = evidence.variables(index)?;
    let pages = Pages {
        version: variables.get("version").and_then(|said| said.parse().ok()),
        variables: &variables,
    };
    pages.protection(evidence.profile(index), &evidence.result.plan.crash_tests)
}

impl Pages<'_> {
    fn protection<'d>(
        &self,
        drive: Option<&'d DriveProfile>,
        tests: &[CrashTest],
    ) -> Option<Protection<'d>> {
        let word = match self.variables.doublewrite()? {
            Doublewrite::Repairs => return Some(Protection::Doublewrite),
            Doublewrite::DetectsOnly => "DETECT_ONLY",
            Doublewrite::Off => "OFF",
        };
        let Some(drive) = drive else {
            let why = format!("doublewrite is {word} on storage of unknown atomicity");
            return Some(Protection::None(why));
        };
        let page = self.variables.page_size();
        if !drive.atomicity.keeps_whole(page.0) {
            return Some(Protection::None(format!(
                "doublewrite is {word} on {}, whose writes are atomic up to {} bytes, less than a page of \
                 {page}",
                drive.name, drive.atomicity.unit.0
            )));
        }
        Some(match self.objection(drive, tests) {
            Err(objection) => Protection::Promised(drive, objection),
            Ok(()) => Protection::Tested(drive),
        })
    }

    /// Fails with the reason that no test counts, if there is one of the drive.
    fn objection(&self, drive: &DriveProfile, tests: &[CrashTest]) -> Result<(), Option<String>> {
        let pages = PagesInQuestion {
            drive,
            version: self.version,
            variables: self.variables,
        };
        let of_drive = tests.iter().filter(|test| test.is_of_drive(&drive.name));
        let mut first = None;
        for test in of_drive {
            match test.objection(&pages) {
                None => return Ok(()),
                Some(objection) => first = first.or(Some(objection)),
            }
        }
        Err(first)
    }
}
