module github.com/Hexa08/NEF

go 1.24
