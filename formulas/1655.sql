-- platform-sync formula 1655
-- name: Updated At bucket
CONCAT(UPPER(LEFT(`Straße`, 1)), LOWER(SUBSTRING(`Segment`, 2)))
