-- platform-sync formula 4153
-- name: Win Rate (copy)
DATE_FORMAT(NOW(), '%Y-%m-%d')
