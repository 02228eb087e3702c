-- platform-sync formula 4418
-- name: As-of date
'€'
