-- platform-sync formula 4946
-- name: Gross Profit test
`Weight kg` * (1 + `Budget` / 100)
