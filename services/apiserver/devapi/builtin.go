package main

// The built-in types are plain storage: registry, watch cache, versions, patches and generations are the
// library's. There are no defaults, no validation of specs, and no controllers.

import (
	"context"
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/storage/value"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtIn is a type and its storage.
type builtIn struct {
	version                 schema.GroupVersion
	plural, singular, short string
	isNamespaced, hasStatus bool
	isUpsert                bool // whether a PUT creates what is missing
	object, list            runtime.Object
}

var builtIns = []builtIn{
	{corev1.SchemeGroupVersion, "namespaces", "namespace", "ns", false, true, false, &corev1.Namespace{}, &corev1.NamespaceList{}},
	{corev1.SchemeGroupVersion, "configmaps", "configmap", "cm", true, false, false, &corev1.ConfigMap{}, &corev1.ConfigMapList{}},
	{corev1.SchemeGroupVersion, "secrets", "secret", "", true, false, false, &corev1.Secret{}, &corev1.SecretList{}},
	{corev1.SchemeGroupVersion, "pods", "pod", "po", true, true, false, &corev1.Pod{}, &corev1.PodList{}},
	{corev1.SchemeGroupVersion, "services", "service", "svc", true, true, false, &corev1.Service{}, &corev1.ServiceList{}},
	{corev1.SchemeGroupVersion, "serviceaccounts", "serviceaccount", "sa", true, false, false, &corev1.ServiceAccount{}, &corev1.ServiceAccountList{}},
	{corev1.SchemeGroupVersion, "persistentvolumeclaims", "persistentvolumeclaim", "pvc", true, true, false, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{}},
	{corev1.SchemeGroupVersion, "events", "event", "ev", true, false, true, &corev1.Event{}, &corev1.EventList{}},
	{eventsv1.SchemeGroupVersion, "events", "event", "ev", true, false, true, &eventsv1.Event{}, &eventsv1.EventList{}},
	{coordinationv1.SchemeGroupVersion, "leases", "lease", "", true, false, true, &coordinationv1.Lease{}, &coordinationv1.LeaseList{}},
	{appsv1.SchemeGroupVersion, "deployments", "deployment", "deploy", true, true, false, &appsv1.Deployment{}, &appsv1.DeploymentList{}},
	{batchv1.SchemeGroupVersion, "jobs", "job", "", true, true, false, &batchv1.Job{}, &batchv1.JobList{}},
	{networkingv1.SchemeGroupVersion, "ingresses", "ingress", "ing", true, true, false, &networkingv1.Ingress{}, &networkingv1.IngressList{}},
	{networkingv1.SchemeGroupVersion, "networkpolicies", "networkpolicy", "netpol", true, false, false, &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}},
	{policyv1.SchemeGroupVersion, "poddisruptionbudgets", "poddisruptionbudget", "pdb", true, true, false, &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}},
	{discoveryv1.SchemeGroupVersion, "endpointslices", "endpointslice", "", true, false, false, &discoveryv1.EndpointSlice{}, &discoveryv1.EndpointSliceList{}},
	{admissionv1.SchemeGroupVersion, "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "", false, false, false, &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfigurationList{}},
	{admissionv1.SchemeGroupVersion, "validatingwebhookconfigurations", "validatingwebhookconfiguration", "", false, false, false, &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfigurationList{}},
	{admissionv1.SchemeGroupVersion, "validatingadmissionpolicies", "validatingadmissionpolicy", "", false, true, false, &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyList{}},
	{admissionv1.SchemeGroupVersion, "validatingadmissionpolicybindings", "validatingadmissionpolicybinding", "", false, false, false, &admissionv1.ValidatingAdmissionPolicyBinding{}, &admissionv1.ValidatingAdmissionPolicyBindingList{}},
	{admissionv1.SchemeGroupVersion, "mutatingadmissionpolicies", "mutatingadmissionpolicy", "", false, false, false, &admissionv1.MutatingAdmissionPolicy{}, &admissionv1.MutatingAdmissionPolicyList{}},
	{admissionv1.SchemeGroupVersion, "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding", "", false, false, false, &admissionv1.MutatingAdmissionPolicyBinding{}, &admissionv1.MutatingAdmissionPolicyBindingList{}},
	{rbacv1.SchemeGroupVersion, "roles", "role", "", true, false, false, &rbacv1.Role{}, &rbacv1.RoleList{}},
	{rbacv1.SchemeGroupVersion, "rolebindings", "rolebinding", "", true, false, false, &rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{}},
	{rbacv1.SchemeGroupVersion, "clusterroles", "clusterrole", "", false, false, false, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleList{}},
	{rbacv1.SchemeGroupVersion, "clusterrolebindings", "clusterrolebinding", "", false, false, false, &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{}},
}

// strategy says which writes of a built-in type the storage takes, and how it changes them.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	builtIn
	isOfStatus bool // whether it writes the status alone
}

func (s strategy) NamespaceScoped() bool { return s.isNamespaced }

func (s strategy) PrepareForCreate(_ context.Context, object runtime.Object) {
	convert(object)
	if part(object, "Spec").IsValid() {
		metaOf(object).SetGeneration(1)
	}
	if status := part(object, "Status"); s.hasStatus && status.IsValid() {
		status.SetZero()
	}
}

func (s strategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	convert(object)
	if s.isOfStatus {
		status := reflect.ValueOf(part(object, "Status").Interface())
		managers := metaOf(object).GetManagedFields()
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
		part(object, "Status").Set(status)
		metaOf(object).SetManagedFields(managers)
		return
	}
	if s.hasStatus {
		part(object, "Status").Set(part(old, "Status"))
	}
	metaOf(object).SetGeneration(metaOf(old).GetGeneration())
	now, before := part(object, "Spec"), part(old, "Spec")
	if now.IsValid() && !reflect.DeepEqual(now.Interface(), before.Interface()) {
		metaOf(object).SetGeneration(metaOf(old).GetGeneration() + 1)
	}
}

func (strategy) Validate(context.Context, runtime.Object) field.ErrorList              { return nil }
func (strategy) ValidateUpdate(_ context.Context, _, _ runtime.Object) field.ErrorList { return nil }
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string             { return nil }
func (strategy) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string      { return nil }
func (strategy) Canonicalize(runtime.Object)                                           {}
func (s strategy) AllowCreateOnUpdate() bool                                           { return s.isUpsert }

// AllowUnconditionalUpdate tells whether a PUT may come without a version. That of a Lease or a PodDisruptionBudget may
// not.
func (s strategy) AllowUnconditionalUpdate() bool {
	return s.version.Group != coordinationv1.GroupName && s.version.Group != policyv1.GroupName
}

func metaOf(object runtime.Object) metav1.Object {
	accessor, err := meta.Accessor(object)
	must(err)
	return accessor
}

func part(object runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(object).Elem().FieldByName(name)
}

// convert does to a Secret what its conversion does in a cluster: text becomes data.
func convert(object runtime.Object) {
	admissionDefaults(object)
	if service, ok := object.(*corev1.Service); ok && service.Spec.Type == "" {
		service.Spec.Type = corev1.ServiceTypeClusterIP // without it no webhook of the service is found
	}
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return
	}
	for name, text := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[name] = []byte(text)
	}
	secret.StringData = nil
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
}

// named is a storage with the short name that kubectl takes.
type named struct {
	*genericregistry.Store
	short string
}

func (n named) ShortNames() []string {
	if n.short == "" {
		return nil
	}
	return []string{n.short}
}

// statusStorage is the status subresource of a store whose update strategy writes the status alone.
type statusStorage struct{ store *genericregistry.Store }

func (s *statusStorage) New() runtime.Object { return s.store.New() }
func (s *statusStorage) Destroy()            {}
func (s *statusStorage) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}
func (s *statusStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, create, update, false, options)
}

// installBuiltIns serves the built-in types and returns their stores by plural. The last of two types with one plural
// counts.
func installBuiltIns(server *genericapiserver.GenericAPIServer, etcd *options.EtcdOptions, transformers value.ResourceTransformers) (map[string]*genericregistry.Store, error) {
	scheme := runtime.NewScheme()
	if err := clientscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	var versions []schema.GroupVersion
	for _, one := range builtIns {
		scheme.AddKnownTypes(schema.GroupVersion{Group: one.version.Group, Version: runtime.APIVersionInternal}, one.object, one.list)
		versions = append(versions, one.version)
	}
	codecs := serializer.NewCodecFactory(scheme)
	own := *etcd
	own.StorageConfig.Codec = codecs.LegacyCodec(versions...)
	getter := own.CreateRESTOptionsGetter(&options.SimpleStorageFactory{StorageConfig: own.StorageConfig}, transformers)
	groups := map[string]*genericapiserver.APIGroupInfo{}
	stores := map[string]*genericregistry.Store{}
	for _, one := range builtIns {
		group := groups[one.version.Group]
		if group == nil {
			info := genericapiserver.NewDefaultAPIGroupInfo(one.version.Group, scheme, metav1.ParameterCodec, codecs)
			info.PrioritizedVersions = []schema.GroupVersion{one.version}
			info.VersionedResourcesStorageMap[one.version.Version] = map[string]rest.Storage{}
			group = &info
			groups[one.version.Group] = group
		}
		resources := group.VersionedResourcesStorageMap[one.version.Version]
		store, err := newStore(one, scheme, getter)
		if err != nil {
			return nil, err
		}
		stores[one.plural] = store
		addStorage(resources, one, store, scheme)
	}
	for name, group := range groups {
		if err := install(server, name, group); err != nil {
			return nil, err
		}
	}
	return stores, nil
}

func newStore(one builtIn, scheme *runtime.Scheme, getter generic.RESTOptionsGetter) (*genericregistry.Store, error) {
	resource := schema.GroupResource{Group: one.version.Group, Resource: one.plural}
	attributes := storage.DefaultClusterScopedAttr
	if one.isNamespaced {
		attributes = storage.DefaultNamespaceScopedAttr
	}
	writes := strategy{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, builtIn: one}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return one.object.DeepCopyObject() },
		NewListFunc:               func() runtime.Object { return one.list.DeepCopyObject() },
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: schema.GroupResource{Group: one.version.Group, Resource: one.singular},
		PredicateFunc: func(byLabel labels.Selector, byField fields.Selector) storage.SelectionPredicate {
			return storage.SelectionPredicate{Label: byLabel, Field: byField, GetAttrs: attributes}
		},
		CreateStrategy: writes, UpdateStrategy: writes, DeleteStrategy: writes,
		TableConvertor: rest.NewDefaultTableConvertor(resource),
	}
	return store, store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter, AttrFunc: attributes})
}

// addStorage adds the storage of a type, and of its status, to the resources of its group.
func addStorage(resources map[string]rest.Storage, one builtIn, store *genericregistry.Store, scheme *runtime.Scheme) {
	resources[one.plural] = named{store, one.short}
	if one.hasStatus {
		ofStatus := *store
		ofStatus.UpdateStrategy = strategy{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, builtIn: one, isOfStatus: true}
		resources[one.plural+"/status"] = &statusStorage{&ofStatus}
	}
}

func install(server *genericapiserver.GenericAPIServer, name string, group *genericapiserver.APIGroupInfo) error {
	if name == "" {
		return server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, group)
	}
	return server.InstallAPIGroup(group)
}

// definitions are the schemas that server-side apply needs: metadata is typed, the rest is deduced from the object.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := generatedopenapi.GetOpenAPIDefinitions(ref)
	text := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"string"}}}
	object := func(properties map[string]spec.Schema, needs ...string) common.OpenAPIDefinition {
		properties["apiVersion"], properties["kind"] = text, text
		return common.OpenAPIDefinition{Dependencies: needs, Schema: spec.Schema{
			SchemaProps:      spec.SchemaProps{Type: []string{"object"}, Properties: properties},
			VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-preserve-unknown-fields": true}},
		}}
	}
	to := func(name string) spec.Schema { return spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(name)}} }
	objectMeta, listMeta := util.GetCanonicalTypeName(&metav1.ObjectMeta{}), util.GetCanonicalTypeName(&metav1.ListMeta{})
	for _, one := range builtIns {
		name, listName := util.GetCanonicalTypeName(one.object), util.GetCanonicalTypeName(one.list)
		item := to(name)
		items := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"array"}, Items: &spec.SchemaOrArray{Schema: &item}}}
		all[name] = object(map[string]spec.Schema{"metadata": to(objectMeta)}, objectMeta)
		all[listName] = object(map[string]spec.Schema{"metadata": to(listMeta), "items": items}, listMeta, name)
	}
	return all
}
