-- An event has the number that its writer gave it (seq: the worker in the high bits) and its place in the order of all
-- commits, which has no gaps. What stands in an index of item never changes while an item is worked on.
CREATE TABLE meta (
  one integer PRIMARY KEY CHECK (one = 1), format integer NOT NULL, run_id text NOT NULL,
  events bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10);
CREATE TABLE worker (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, epoch integer NOT NULL DEFAULT 1,
  state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'done', 'dead')), is_owner boolean NOT NULL DEFAULT true,
  joined_at timestamptz NOT NULL DEFAULT clock_timestamp(), renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seq bigint NOT NULL DEFAULT 0, began bigint NOT NULL DEFAULT 0,
  spent bigint NOT NULL DEFAULT 0, unconfirmed bigint NOT NULL DEFAULT 0, reserved bigint NOT NULL DEFAULT 0,
  granted bigint NOT NULL DEFAULT 0, charged bigint NOT NULL DEFAULT 0,
  standing bigint[] NOT NULL DEFAULT '{0,0,0,0,0}', items bigint NOT NULL DEFAULT 0, batches bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE event (
  seq bigint PRIMARY KEY, place bigint NOT NULL, at double precision NOT NULL, item bigint NOT NULL,
  crc bigint NOT NULL, kind smallint NOT NULL, body bytea NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 500000);
CREATE UNIQUE INDEX event_place ON event (place);
CREATE INDEX event_of_batch ON event (place) WHERE kind >= 8;
CREATE TABLE item (
  id bigint PRIMARY KEY, idx bigint, reserved bigint NOT NULL, paid bigint NOT NULL, columns bigint NOT NULL,
  request_seq bigint NOT NULL, columns_seq bigint NOT NULL, settled_seq bigint NOT NULL, crc bigint NOT NULL,
  occurrence integer NOT NULL, attempts integer NOT NULL, status smallint NOT NULL, fingerprint bytea NOT NULL
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);
CREATE UNIQUE INDEX item_identity ON item (fingerprint, occurrence);
CREATE INDEX item_place ON item (idx);
-- Places that the owner has placed and offers to all, until they are done. Nobody: they are free.
CREATE TABLE block (
  first bigint PRIMARY KEY, stop bigint NOT NULL CHECK (stop > first), began bigint NOT NULL,
  worker integer REFERENCES worker, claims integer NOT NULL DEFAULT 0) WITH (fillfactor = 50);
-- Answers of workers that were taken over before they could write them, until whoever has the item takes them in.
CREATE TABLE late (
  seq bigint PRIMARY KEY, item bigint NOT NULL, attempts integer NOT NULL, reserved bigint NOT NULL,
  crc bigint NOT NULL, kind smallint NOT NULL, body bytea NOT NULL);
-- What all workers together may spend and send. Granted: of the ceiling; to those that have ended, what they used.
CREATE TABLE account (
  name text PRIMARY KEY, ceiling bigint, granted bigint NOT NULL DEFAULT 0, last bigint NOT NULL DEFAULT 0,
  cool_until timestamptz NOT NULL DEFAULT 'epoch', CHECK (granted <= ceiling OR last = 0)) WITH (fillfactor = 50);
CREATE TABLE blob (digest bytea PRIMARY KEY, body bytea NOT NULL, crc bigint NOT NULL);
CREATE TABLE output (
  path text PRIMARY KEY, size bigint NOT NULL, mtime_ns bigint NOT NULL,
  rowid bigint GENERATED ALWAYS AS IDENTITY);
