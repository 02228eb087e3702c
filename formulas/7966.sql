-- platform-sync formula 7966
-- name: YoY Growth OLD
DATE_FORMAT(`Order Date`, '%Y-%m')
