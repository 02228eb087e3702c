-- platform-sync formula 6407
-- name: Growth assumption
0.075
