-- Where a row came from, asked by its id: an export says so beside each row.
CREATE INDEX import_map_by_id ON import_map (scope, id);
