module everseen.example/go

go 1.19
