//! Makes a list that fails as short as it goes.

/// The list without all that can be left out while it still fails.
pub fn shrink<T: Clone>(list: Vec<T>, fails: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let (mut list, mut size) = (list, 0);
    if size == 0 {
        size = list.len().div_ceil(2);
    }
    while size > 0 && !list.is_empty() {
        let (mut at, mut was_shorter) = (0, false);
        while at < list.len() {
            let end = (at + size).min(list.len());
            let shorter: Vec<_> = list[..at].iter().chain(&list[end..]).cloned().collect();
            if fails(&shorter) {
                list = shorter;
                was_shorter = true;
            } else {
                at = end;
            }
        }
        if !was_shorter || size > 1 {
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }
    list
}

#[test]
fn what_does_not_matter_is_left_out() {
    let mut fails = |list: &[u32]| list.contains(&3) && list.contains(&8);
    assert_eq!(shrink((0..100).collect(), &mut fails), [3, 8]);
}
