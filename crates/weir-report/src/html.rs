//! One HTML file: the page that `web/` builds, with the result inside it.

use weir_model::{JudgedResult, validation_line};

use crate::ReportError;
use crate::page::Page;
use crate::predicted_throughput::PredictedThroughput;

/// The page without a result, built by `make web`.
pub(crate) const TEMPLATE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/dist/report.html"
));
/// Slot of the page for the result.
const SLOT: &str = r#"<script type="application/json" id="weir-result">"#;

/// The report of `result` as one HTML file that needs nothing else: no network, no other file.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn html(result: &JudgedResult) -> Result<String, ReportError> {
    html_with_predictions(result, &[])
}

/// The same, with predictions of configurations that did not run.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn html_with_predictions(
    result: &JudgedResult,
    predicted: &[PredictedThroughput],
) -> Result<String, ReportError> {
    let json = page_json(result, predicted)?;
    let (before, after) = TEMPLATE.split_once(SLOT).ok_or(ReportError::NoSlot)?;
    let (_placeholder, after) = after.split_once("</script>").ok_or(ReportError::NoSlot)?;
    Ok([before, SLOT, &json, "</script>", after].concat())
}

/// Returns the content of the page for `result`, as JSON that may stand inside a `<script>`
/// element.
///
/// Sentences and names are the ones of this crate; series are rounded and, for many or long runs,
/// drawn in coarser steps. [`crate::json`] has everything.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn page_json(
    result: &JudgedResult,
    predicted: &[PredictedThroughput],
) -> Result<String, ReportError> {
    let mut page = Page::new(result).with_predictions(predicted);
    if let Some(line) = validation_line(&result.evidence.drives) {
        // The page's first sentence, which ends without a period.
        let rest = page
            .advice
            .take()
            .map_or(String::new(), |advice| format!(" {advice}"));
        page.advice = Some(format!("{line}{rest}").trim_end_matches('.').to_owned());
    }
    let json = serde_json::to_string(&page).map_err(ReportError::Serialize)?;
    Ok(escape_for_script(&json))
}

/// In JSON these characters stand only inside strings, where an escape means the same.
///
/// `<` could end the element (`</script>`) or begin a comment in it; U+2028 and U+2029 end lines
/// in older JavaScript.
fn escape_for_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::path::Path;

    /// The page's own tests and its browser tests read these files.
    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/fixtures");

    #[test]
    fn the_fixtures_of_the_page_are_what_this_crate_writes() {
        let fixtures = [
            ("result.json", sample::study(4, 3), Vec::new()),
            ("sweep.json", sample::sweep(), sample::predicted()),
        ];
        for (name, result, predicted) in fixtures {
            let mut json = page_json(&result, &predicted).unwrap();
            json.push('\n');
            let file = Path::new(FIXTURES).join(name);
            if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
                std::fs::write(&file, &json).unwrap();
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(
                kept == json,
                "web/fixtures/{name} is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo test -p \
                 weir-report` and then `npm test` in web/"
            );
        }
    }

    #[test]
    fn text_with_html_in_it_cannot_leave_its_element() {
        let mut result = sample::study(1, 1);
        let hostile = "</script><img src=x onerror=alert(1)><!--\u{2028}";
        result.evidence.plan.title = hostile.to_owned();
        std::sync::Arc::make_mut(&mut result.evidence.runs[0].variables)
            .insert(hostile.to_owned(), hostile.to_owned());
        let json = page_json(&result, &[]).unwrap();
        assert!(!json.contains('<') && !json.contains('\u{2028}'));
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["title"], hostile, "escaped, not changed");

        let page = html(&result).unwrap();
        let plain = html(&sample::study(1, 1)).unwrap();
        let tags = |text: &str| text.matches("</script").count();
        assert_eq!(tags(&page), tags(&plain));
    }

    #[test]
    fn a_page_of_a_hundred_long_runs_stays_small() {
        let page = html(&sample::large(25, 4, 330)).unwrap();
        let megabytes = page.len() as f64 / 1e6;
        assert!(megabytes < 1.5, "{megabytes:.2} MB");
    }

    #[test]
    fn a_result_without_runs_still_makes_a_page() {
        let mut result = sample::study(2, 3);
        result.evidence.runs.clear();
        result.comparisons.clear();
        assert!(html(&result).is_ok());
    }
}
