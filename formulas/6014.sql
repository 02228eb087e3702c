-- platform-sync formula 6014
-- name: Año fiscal v2
`Score` * (1 + `Headcount` / 100)
