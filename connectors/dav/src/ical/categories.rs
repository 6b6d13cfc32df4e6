//! CATEGORIES: several lines, each with several values, as one list.

use std::collections::HashSet;

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;

use crate::ical::lines::{lines, list, remove, set_list, text_line};

const NAME: &str = "CATEGORIES";

/// The categories of all lines, each once, in source order.
pub fn categories(component: &IcalCst) -> Vec<String> {
    once(lines(component, NAME).flat_map(list))
}

fn once(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    all.filter(|category| seen.insert(category.clone())).collect()
}

/// Makes the categories these, in this order. A line that stays whole keeps its bytes; new ones get a line of their own. Only
/// where that would be another order, one line says them all.
pub fn set_categories(component: &mut IcalCst, wanted: &[String]) {
    let wanted = wanted.iter().map(|category| category.trim().to_owned());
    let wanted = once(wanted.filter(|category| !category.is_empty()));
    let mut missing: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    component.items.retain_mut(|item| {
        let IcalItem::Prop(line) = item else { return true };
        if !line.name.get().eq_ignore_ascii_case(NAME) {
            return true;
        }
        let said = list(line);
        let kept: Vec<&String> = said.iter().filter(|category| missing.remove(category.as_str())).collect();
        if kept.len() < said.len() {
            set_list(line, &kept);
        }
        !kept.is_empty()
    });
    let new: Vec<&String> = wanted.iter().filter(|category| missing.contains(category.as_str())).collect();
    if !new.is_empty() {
        component.push_line(said_by(&new));
    }
    if categories(component) != wanted {
        remove(component, NAME);
        component.push_line(said_by(&wanted));
    }
}

fn said_by<S: AsRef<str>>(values: &[S]) -> IcalLine<'static> {
    let mut line = text_line(NAME, "");
    set_list(&mut line, values);
    line
}

#[cfg(test)]
mod tests {
    use ical::tree::cst::IcalCst;

    use super::{categories, set_categories};

    const TEXT: &str = "BEGIN:VTODO\r\nCATEGORIES;LANGUAGE=en:Home, Garden,,Home\r\nSUMMARY:x\r\nCATEGORIES:Work\\, hard\r\nEND:VTODO\r\n";

    fn after(wanted: &[&str]) -> String {
        let mut todo = IcalCst::parse(TEXT).unwrap();
        let wanted: Vec<String> = wanted.iter().map(|text| (*text).to_owned()).collect();
        set_categories(&mut todo, &wanted);
        let text = String::from_utf8(todo.to_bytes()).unwrap();
        assert_eq!(categories(&IcalCst::parse(&text).unwrap()), wanted);
        text.lines().filter(|line| line.starts_with("CATEGORIES")).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn lines_that_stay_keep_their_bytes() {
        assert_eq!(
            after(&["Home", "Garden", "Work, hard"]),
            "CATEGORIES;LANGUAGE=en:Home,Garden|CATEGORIES:Work\\, hard"
        );
        assert_eq!(
            after(&["Garden", "Work, hard", "New; one"]),
            "CATEGORIES;LANGUAGE=en:Garden|CATEGORIES:Work\\, hard|CATEGORIES:New\\; one"
        );
        assert_eq!(after(&["Work, hard"]), "CATEGORIES:Work\\, hard");
        assert_eq!(after(&["Work, hard", "Home"]), "CATEGORIES:Work\\, hard,Home");
        assert_eq!(after(&[]), "");
    }
}
