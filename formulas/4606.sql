-- platform-sync formula 4606
-- name: Ø Discount
`Net Price` * (1 + `売上` / 100)
