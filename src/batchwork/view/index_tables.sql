CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL, run_id TEXT NOT NULL, seq INTEGER NOT NULL,
  at REAL NOT NULL, journal TEXT NOT NULL) STRICT;
CREATE TABLE item (
  id INTEGER PRIMARY KEY, place INTEGER, status INTEGER NOT NULL, kind INTEGER NOT NULL, paid INTEGER NOT NULL,
  latency REAL NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, attempts INTEGER NOT NULL,
  opened_at REAL NOT NULL, settled_at REAL NOT NULL, settled_seq INTEGER NOT NULL) STRICT;
CREATE INDEX item_place ON item (place);
-- What happened to an item beside its opening and its latest outcome: calls that did not settle it, earlier outcomes.
CREATE TABLE trace (item INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (item, seq)) STRICT, WITHOUT ROWID;
-- Calls that did not settle their item, by the second and by kind.
CREATE TABLE miss (
  second INTEGER NOT NULL, kind INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (second, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
  seq INTEGER PRIMARY KEY, began_at REAL NOT NULL, ended_seq INTEGER, ended_at REAL, last_at REAL NOT NULL,
  limits TEXT NOT NULL DEFAULT '{}') STRICT;
CREATE TABLE batch (
  chunk INTEGER PRIMARY KEY, batch_id TEXT, items INTEGER NOT NULL, intended_at REAL NOT NULL, submitted_at REAL,
  closed_at REAL, how TEXT) STRICT;
-- The words of prompts by item, and of answers by the number of the event that settled it: an answer that is replaced
-- stays here, and no item points to it any more.
CREATE VIRTUAL TABLE prompt_words USING fts5 (
  text, content='', detail=none, columnsize=0, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
CREATE VIRTUAL TABLE answer_words USING fts5 (
  text, content='', detail=none, columnsize=0, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
