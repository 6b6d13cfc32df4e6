//! Short forms of given names.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::names;

/// Each line: a given name and its short forms. English, and the German, Spanish, French, Italian, Polish and Russian forms that are as
/// common; folded, umlauts as one letter. A short form of several names is listed with the most common one, so that the relation is an
/// equivalence.
const TABLE: &[&[&str]] = &[
    &["abigail", "abby", "abbie"],
    &["agnieszka", "aga"],
    &["alejandro", "alejo"],
    &["alexander", "alex", "alec", "aleksandr", "alexandr", "sasha", "sascha", "aleksander", "olek"],
    &["alexandra", "sandra", "aleksandra", "ola"],
    &["alfred", "alf", "fred", "freddie", "freddy"],
    &["andrew", "andy", "drew"],
    &["ann", "anna", "anne", "annie", "anni", "anya"],
    &["anthony", "tony", "antonio", "toni", "anton"],
    &["barbara", "barb", "babs", "basia"],
    &["benjamin", "ben", "benny", "benji"],
    &[
        "catherine",
        "katherine",
        "kathryn",
        "cathy",
        "kathy",
        "kate",
        "katie",
        "catharine",
        "katharina",
        "kathi",
    ],
    &["charles", "charlie", "chuck", "chas"],
    &["christine", "christina", "chrissy", "tina"],
    &["christopher", "chris", "kit", "topher"],
    &["daniel", "dan", "danny"],
    &["david", "dave", "davy"],
    &["deborah", "deb", "debbie", "debra"],
    &["dmitry", "dmitri", "dima", "dimitri", "dmitrij"],
    &["donald", "don", "donnie"],
    &["dorothy", "dot", "dottie"],
    &["edward", "ed", "eddie", "ted", "teddy", "ned"],
    &[
        "elizabeth",
        "elisabeth",
        "liz",
        "lizzie",
        "beth",
        "betty",
        "eliza",
        "lisa",
        "libby",
        "betsy",
        "elisabetta",
    ],
    &["eugene", "gene", "evgeny", "evgeniy", "zhenya"],
    &["florian", "flo"],
    &["francis", "frank", "frankie", "franz"],
    &["francisco", "paco", "pancho", "fran"],
    &["frederick", "frederic", "friedrich", "fritz"],
    &["gabriel", "gabe"],
    &["gerald", "gerry", "jerry", "gerard"],
    &["gregory", "greg", "gregg"],
    &["guadalupe", "lupe"],
    &["henry", "harry", "hank", "heinrich", "heinz", "henrik"],
    &["ignacio", "nacho"],
    &["jacob", "jake", "jakob", "jakub", "kuba"],
    &["james", "jim", "jimmy", "jamie"],
    &["jennifer", "jen", "jenny", "jenn"],
    &["jessica", "jess", "jessie"],
    &["johann", "johannes", "hannes", "hans"],
    &["john", "johnny", "jack", "jon"],
    &["jonathan", "jonny", "nathan"],
    &["joseph", "joe", "joey", "josef", "sepp"],
    &["jose", "pepe"],
    &["joshua", "josh"],
    &["kenneth", "ken", "kenny"],
    &["lawrence", "larry", "laurence"],
    &["leonard", "leo", "lenny", "len", "leonhard"],
    &["margaret", "maggie", "meg", "peggy", "marge", "margarete", "greta", "gretchen", "margarita"],
    &["matthew", "matt", "matthias", "mathias", "matze"],
    &["maximilian", "max", "maxi", "maxim", "maksim"],
    &["michael", "mike", "mick", "mickey", "mikhail", "mischa", "misha", "michel", "miguel"],
    &["nicholas", "nick", "nicky", "nicolas", "nikolaus", "niklas", "klaus", "nikolai", "kolya"],
    &["natalia", "natasha", "nataliya", "natalya"],
    &["olga", "olya"],
    &["pamela", "pam"],
    &["patricia", "pat", "patty", "trish", "tricia"],
    &["patrick", "paddy"],
    &["peter", "pete", "petr", "pyotr", "piotr"],
    &["philip", "phillip", "phil", "philipp", "filip"],
    &["rebecca", "becky", "becca", "rebekah"],
    &["richard", "rick", "dick", "rich", "ricky"],
    &["robert", "bob", "rob", "bobby", "robbie", "bert"],
    &["ronald", "ron", "ronnie"],
    &["samuel", "sam", "sammy"],
    &["sergey", "sergei", "seryozha", "serge", "sergej"],
    &["stephen", "steven", "steve", "stefan", "stephan", "stevie"],
    &["susan", "sue", "susie", "suzanne", "susanne", "susi", "suzy"],
    &["tatiana", "tanya", "tatyana"],
    &["theodore", "theo"],
    &["theresa", "teresa", "terry", "tess", "tessa"],
    &["thomas", "tom", "tommy", "tomas"],
    &["timothy", "tim", "timmy"],
    &["tobias", "tobi", "toby"],
    &["victoria", "vicky", "tori", "vicki"],
    &["vincent", "vince", "vinny"],
    &["vladimir", "volodya", "vova", "wladimir"],
    &["walter", "walt"],
    &["william", "bill", "billy", "will", "willy", "liam", "wilhelm", "guillaume"],
    &["zachary", "zach", "zack"],
    &["андрей", "андрюша"],
    &["александр", "саша", "шура"],
    &["алексей", "леша", "алеша"],
    &["анна", "аня"],
    &["дмитрии", "дмитрий", "дима", "митя"],
    &["екатерина", "катя"],
    &["елена", "лена"],
    &["иван", "ваня"],
    &["мария", "маша"],
    &["михаил", "миша"],
    &["николай", "коля"],
    &["ольга", "оля"],
    &["сергей", "сережа"],
    &["татьяна", "таня"],
];

/// Returns the name that a token of `names` is a form of; the token itself if it is not in the table.
pub fn canonical(token: &str) -> &str {
    INDEX.get(token).map_or(token, String::as_str)
}

/// Returns whether a token is a given name of the table, in any form.
pub fn is_known(token: &str) -> bool {
    INDEX.contains_key(token)
}

/// Index from form to name, both collapsed like the tokens of `names`.
static INDEX: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let pairs = TABLE.iter().flat_map(|forms| forms.iter().map(|form| (*form, forms[0])));
    pairs.map(|(form, name)| (names::collapsed(form), names::collapsed(name))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_name() {
        assert_eq!(canonical("bob"), canonical("robert"));
        assert_eq!(canonical("liz"), canonical("betsy"));
        assert_eq!(canonical("xavier"), "xavier");
        let count: usize = TABLE.iter().map(|forms| forms.len()).sum();
        assert_eq!(INDEX.len(), count, "a form stands with two names");
    }
}
