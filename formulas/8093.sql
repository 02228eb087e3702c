-- platform-sync formula 8093
-- name: Ø 売上 OLD
SUM(`売上`) - SUM(`Score`)
