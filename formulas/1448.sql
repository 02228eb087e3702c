-- platform-sync formula 1448
-- name: Discount rate
10
