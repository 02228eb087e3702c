-- platform-sync formula 6227
-- name: Score YTD
COALESCE(`Segment`, `Store #`, 'n/a')
