# Makes a MeshLibrary of a scene's direct children and reads it back from the disk.
# What to do stands in `request.json` beside this script, what came of it in `result.json`.
extends SceneTree


func _initialize() -> void:
	var folder: String = get_script().resource_path.get_base_dir()
	var request: Dictionary = JSON.parse_string(
		FileAccess.get_file_as_string(folder.path_join("request.json"))
	)
	var result := _convert(request, folder)
	var file := FileAccess.open(folder.path_join("result.json"), FileAccess.WRITE)
	file.store_string(JSON.stringify(result))
	file.close()
	quit(0 if result.has("item_count") else 1)


func _convert(request: Dictionary, folder: String) -> Dictionary:
	var scene := ResourceLoader.load(request.scene, "PackedScene") as PackedScene
	if scene == null:
		return {"failed": "load", "why": "the engine does not load the scene"}
	var root := scene.instantiate()
	if root == null:
		return {"failed": "load", "why": "the engine does not instantiate the scene"}
	var library := MeshLibrary.new()
	var skipped := []
	for child in root.get_children():
		if not _add(library, child, request.collisions):
			skipped.append(String(child.name))
	root.free()
	var wanted := library.get_item_list().size()
	if wanted == 0:
		return {"failed": "empty", "skipped": skipped}
	var made := folder.path_join("made.meshlib")
	var error := ResourceSaver.save(library, made)
	if error != OK:
		return {"failed": "save", "why": "saving failed: " + error_string(error)}
	# A library that is replaced keeps the uid by which others name it.
	if request.replaces and ResourceLoader.get_resource_uid(request.output) != -1:
		ResourceSaver.set_uid(made, ResourceLoader.get_resource_uid(request.output))
	return _read_back(made, library, skipped)


func _read_back(made: String, library: MeshLibrary, skipped: Array) -> Dictionary:
	var found := (
		ResourceLoader.load(made, "MeshLibrary", ResourceLoader.CACHE_MODE_IGNORE_DEEP)
		as MeshLibrary
	)
	if found == null:
		return {"failed": "reload", "why": "the library that was saved does not load"}
	if found.get_item_list() != library.get_item_list():
		return {"failed": "reload", "why": "the library that was saved has other items"}
	for id in found.get_item_list():
		var mesh := found.get_item_mesh(id)
		var same: bool = (
			found.get_item_name(id) == library.get_item_name(id)
			and mesh != null
			and mesh.get_surface_count() == library.get_item_mesh(id).get_surface_count()
			and found.get_item_shapes(id).size() == library.get_item_shapes(id).size()
			and (
				(found.get_item_navigation_mesh(id) == null)
				== (library.get_item_navigation_mesh(id) == null)
			)
		)
		if not same:
			return {"failed": "reload", "why": "item %d was not saved as it was made" % id}
	return {"item_count": found.get_item_list().size(), "skipped": skipped}


func _add(library: MeshLibrary, child: Node, collisions: bool) -> bool:
	var holder := _first(child, "MeshInstance3D") as MeshInstance3D
	if holder == null or holder.mesh == null or holder.mesh.get_surface_count() == 0:
		return false
	var id := library.get_item_list().size()
	library.create_item(id)
	library.set_item_name(id, child.name)
	library.set_item_mesh(id, _mesh_of(holder))
	library.set_item_mesh_transform(id, _inside(child, holder))
	if collisions:
		library.set_item_shapes(id, _shapes_of(child, holder))
	var region := _first(child, "NavigationRegion3D") as NavigationRegion3D
	if region != null and region.navigation_mesh != null:
		library.set_item_navigation_mesh(id, region.navigation_mesh)
		library.set_item_navigation_mesh_transform(id, _inside(child, region))
		library.set_item_navigation_layers(id, region.navigation_layers)
	return true


func _first(node: Node, type: String) -> Node:
	if node.is_class(type):
		return node
	for child in node.get_children():
		var found := _first(child, type)
		if found != null:
			return found
	return null


# Where a node stands in its item. The item's own place in the scene is left out.
func _inside(item: Node, node: Node) -> Transform3D:
	var found := Transform3D.IDENTITY
	while node != item:
		if node is Node3D:
			found = node.transform * found
			if node.top_level:
				break
		node = node.get_parent()
	return found


# The mesh as its instance shows it.
func _mesh_of(holder: MeshInstance3D) -> Mesh:
	var mesh := holder.mesh
	for surface in mesh.get_surface_count():
		var material := holder.get_active_material(surface)
		if material != mesh.surface_get_material(surface):
			if mesh == holder.mesh:
				mesh = mesh.duplicate()
			mesh.surface_set_material(surface, material)
	return mesh


# The shapes of the item's static bodies; without any, the mesh's own faces.
func _shapes_of(item: Node, holder: MeshInstance3D) -> Array:
	var shapes := []
	var bodies := item.find_children("*", "StaticBody3D", true, false)
	if item is StaticBody3D:
		bodies.push_front(item)
	for body: StaticBody3D in bodies:
		for owner in body.get_shape_owners():
			if body.is_shape_owner_disabled(owner):
				continue
			var place := _inside(item, body) * body.shape_owner_get_transform(owner)
			for shape in body.shape_owner_get_shape_count(owner):
				shapes.append_array([body.shape_owner_get_shape(owner, shape), place])
	if shapes.is_empty():
		var faces := holder.mesh.create_trimesh_shape()
		if faces != null:
			shapes = [faces, _inside(item, holder)]
	return shapes
