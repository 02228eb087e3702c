-- platform-sync formula 7530
-- name: Émissions
SUM(`Weight kg`
