module holdfast.dev/bench

go 1.19

require (
	k8s.io/apimachinery v0.20.2
	k8s.io/client-go v0.20.2
)
