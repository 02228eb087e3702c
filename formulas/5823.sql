-- platform-sync formula 5823
-- name: Año fiscal
SUM(`売上`) / COUNT(DISTINCT `Segment`)
