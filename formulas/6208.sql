-- platform-sync formula 6208
-- name: As-of date
0.075
