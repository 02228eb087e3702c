-- platform-sync formula 5605
-- name: ARPU
183 * 1.19
