-- platform-sync formula 3181
-- name: Updated At by Rep
COALESCE(`Straße`, `Segment`, 'n/a')
