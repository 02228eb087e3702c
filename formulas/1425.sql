-- platform-sync formula 1425
-- name: Ship Date YoY % (copy)
`Conversion Rate` * (1 + `Clicks` / 100)
