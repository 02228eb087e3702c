-- platform-sync formula 6130
-- name: Margin %
DATE_FORMAT(NOW(), '%Y-%m-%d')
